import { type Duration, parseInterval } from '../duration.js';
import { knownOptions, positiveInteger } from '../validate.js';
import type { Hit, Limit, Verdict } from './limit.js';
import {
  isMinDifferencePlausible,
  type MinDifferenceState,
  minDifferenceExpires,
  minDifferenceWait,
  nextMinDifference,
  parseMinDifference,
  rejectionReason,
} from './min-difference.js';
import { mulDiv, mulDivUp } from './mul-div.js';
import { isWithinScale, type Scale, scaleOf } from './time-scale.js';

/** The numbers of a {@link slidingWindowCounter}. */
export interface SlidingWindowCounterOptions {
  /** Units that the window may hold by the estimate; a positive safe integer. */
  limit: number;
  /** The window's length; milliseconds or text such as `'1m'`. */
  window: Duration;
  /** Time that must pass between two actions of a key; milliseconds or text. Without it, none need pass. */
  minDifference?: Duration | undefined;
}

/** The counts of the window that runs, and of the one before it. */
export interface SlidingWindowCounterState {
  endMicros: number;
  /** Of the limit that recorded last. */
  windowMicros: number;
  current: number;
  previous: number;
  /** Of the greatest limit that has recorded in the window that runs. */
  scale: Scale;
  minDifference: MinDifferenceState | undefined;
}

/**
 * Two counters for an estimate of the rolling window: the units of the clock's window that runs, and those of the one
 * before it, weighted by the part of it that the rolling window still covers. It takes the units of a window to be spread
 * evenly: where they are not, it lets too many through, or too few.
 *
 * Other numbers on a key that is in use: the counts stay, as if the window that runs had been of the new length.
 *
 * @throws TypeError, RangeError naming the option that is wrong.
 * @example
 * ```ts
 * import { slidingWindowCounter } from '@rollgate/core';
 *
 * const limit = slidingWindowCounter({ limit: 1000, window: '1h' });
 * limit.limit; // => 1000
 * ```
 */
export function slidingWindowCounter(options: SlidingWindowCounterOptions): SlidingWindowCounter {
  return new SlidingWindowCounter(options);
}

/** See {@link slidingWindowCounter}. Immutable. */
export class SlidingWindowCounter implements Limit<SlidingWindowCounterState> {
  readonly algorithm = 'sliding-window-counter';
  readonly limit: number;
  readonly countRejected = false;
  readonly windowMicros: number;
  /** 0 when none was asked for. */
  readonly minDifferenceMicros: number;
  readonly keepMicros: number;
  readonly scale: Scale;

  constructor(options: SlidingWindowCounterOptions) {
    knownOptions('slidingWindowCounter', options, ['limit', 'window', 'minDifference']);
    this.limit = positiveInteger('limit', options.limit);
    this.windowMicros = parseInterval('window', options.window) * 1000;
    this.minDifferenceMicros = parseMinDifference(options.minDifference);
    this.keepMicros = Math.max(2 * this.windowMicros, this.minDifferenceMicros);
    this.scale = scaleOf(this.windowMicros);
    Object.freeze(this);
  }

  create(): SlidingWindowCounterState {
    return { endMicros: -Infinity, windowMicros: 0, current: 0, previous: 0, scale: 0, minDifference: undefined };
  }

  expiresMicros({ endMicros, windowMicros, current, previous, minDifference }: SlidingWindowCounterState): number {
    const counted = current > 0 ? endMicros + windowMicros : previous > 0 ? endMicros : -Infinity;
    return Math.max(counted, minDifferenceExpires(minDifference));
  }

  isPlausible({ endMicros, scale, minDifference }: SlidingWindowCounterState, nowMicros: number): boolean {
    const keepMicros = Math.max(this.windowMicros, this.minDifferenceMicros);
    return (
      isWithinScale(endMicros - nowMicros, scale) && isMinDifferencePlausible(minDifference, keepMicros, nowMicros)
    );
  }

  test(state: SlidingWindowCounterState, nowMicros: number, cost: number): Verdict {
    const { current, minDifference } = state;
    const { windowMicros } = this;
    // Before its end a window counts in full and weighs down the one before it; after its end it is the one before.
    const isRunning = state.endMicros > nowMicros;
    const fadedMicros = isRunning ? state.endMicros : state.endMicros + windowMicros;
    const [full, fading] = isRunning ? [current, state.previous] : [0, current];
    const coveredMicros = Math.min(windowMicros, Math.max(0, fadedMicros - nowMicros));
    const free = this.limit - full - mulDivUp(fading, coveredMicros, windowMicros);
    const quotaWait =
      cost > this.limit ? Infinity : cost > free ? this.#quotaWait(state, this.limit - cost, isRunning) - nowMicros : 0;
    const differenceWait = minDifferenceWait(minDifference, this.minDifferenceMicros, nowMicros);
    return {
      waitMicros: Math.max(quotaWait, differenceWait),
      reason: rejectionReason(quotaWait, differenceWait),
      delayMicros: 0,
      remaining: Math.max(0, free),
      resetMicros: Math.max(
        0,
        (current > 0 ? state.endMicros + windowMicros : fading > 0 ? fadedMicros : nowMicros) - nowMicros,
      ),
      atMicros: this.#endOfWindow(state.endMicros, nowMicros),
    };
  }

  record(state: SlidingWindowCounterState, nowMicros: number, cost: number, { atMicros }: Verdict): Verdict {
    const isRunning = atMicros === state.endMicros;
    state.scale = isRunning ? Math.max(state.scale, this.scale) : this.scale;
    if (!isRunning) {
      state.previous = atMicros === state.endMicros + this.windowMicros ? state.current : 0;
      state.current = 0;
    }
    state.endMicros = atMicros;
    state.windowMicros = this.windowMicros;
    state.current += cost;
    state.minDifference = nextMinDifference(state.minDifference, this.minDifferenceMicros, nowMicros);
    return this.test(state, nowMicros, cost);
  }

  refund(state: SlidingWindowCounterState, _nowMicros: number, { atMicros, cost }: Hit): void {
    if (state.windowMicros !== this.windowMicros) return;
    if (state.endMicros === atMicros) state.current = Math.max(0, state.current - cost);
    else if (state.endMicros === atMicros + this.windowMicros) state.previous = Math.max(0, state.previous - cost);
  }

  /** When no more than `most` units are counted. */
  #quotaWait({ endMicros, current, previous }: SlidingWindowCounterState, most: number, isRunning: boolean): number {
    return isRunning && current <= most
      ? endMicros - mulDiv(most - current, this.windowMicros, previous)
      : endMicros + this.windowMicros - mulDiv(most, this.windowMicros, current);
  }

  /** Windows follow each other as long as units of the last one count. */
  #endOfWindow(endMicros: number, nowMicros: number): number {
    const { windowMicros } = this;
    if (endMicros > nowMicros) return endMicros;
    if (endMicros + windowMicros > nowMicros) return endMicros + windowMicros;
    return (Math.floor(nowMicros / windowMicros) + 1) * windowMicros;
  }
}
