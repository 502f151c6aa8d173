import { type Duration, parseInterval } from '../duration.js';
import { knownOptions, positiveInteger } from '../validate.js';
import { isWithinScale, type Scale, scaleOf } from './clock-skew-bound.js';
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

/** The options of {@link slidingWindowCounter}. */
export interface SlidingWindowCounterOptions {
  /** The most units in the window according to the estimate, a positive safe integer. */
  limit: number;
  /** The window's length, in milliseconds or as text such as `'1m'`. */
  window: Duration;
  /**
   * The least time between two actions of a key, in milliseconds or as text such as `'3s'`.
   *
   * @defaultValue no minimum
   */
  minDifference?: Duration | undefined;
}

/** The counts of the current window and of the previous one. */
export interface SlidingWindowCounterState {
  endMicros: number;
  /** The window of the limit that recorded last. */
  windowMicros: number;
  current: number;
  previous: number;
  /** The scale of the largest limit that has recorded in the current window. */
  scale: Scale;
  minDifference: MinDifferenceState | undefined;
}

/**
 * Estimates the rolling window with two counters. It adds the units of the current clock-aligned window to those of the
 * previous one, weighted by the part that the rolling window still covers. The estimate assumes that units are spread
 * evenly over a window. Otherwise it allows too many or too few.
 *
 * If the settings of a key in use change, the counts stay, as if the current window had the new length.
 *
 * @throws TypeError, RangeError naming the invalid option.
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
  /** 0 if the limit has no `minDifference`. */
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
    // Until its end, the recorded window counts in full, and the one before it fades. Afterwards, the recorded one
    // fades.
    const isRunning = state.endMicros > nowMicros;
    const fadeEndMicros = isRunning ? state.endMicros : state.endMicros + windowMicros;
    const [full, fading] = isRunning ? [current, state.previous] : [0, current];
    const coveredMicros = Math.min(windowMicros, Math.max(0, fadeEndMicros - nowMicros));
    const free = this.limit - full - mulDivUp(fading, coveredMicros, windowMicros);
    const quotaWait =
      cost > this.limit
        ? Infinity
        : cost > free
          ? this.#timeOfUnits(state, this.limit - cost, isRunning) - nowMicros
          : 0;
    const differenceWait = minDifferenceWait(minDifference, this.minDifferenceMicros, nowMicros);
    return {
      waitMicros: Math.max(quotaWait, differenceWait),
      reason: rejectionReason(quotaWait, differenceWait),
      delayMicros: 0,
      remaining: Math.max(0, free),
      resetMicros: Math.max(
        0,
        (current > 0 ? state.endMicros + windowMicros : fading > 0 ? fadeEndMicros : nowMicros) - nowMicros,
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

  /** The time at which at most `most` units count. */
  #timeOfUnits({ endMicros, current, previous }: SlidingWindowCounterState, most: number, isRunning: boolean): number {
    return isRunning && current <= most
      ? endMicros - mulDiv(most - current, this.windowMicros, previous)
      : endMicros + this.windowMicros - mulDiv(most, this.windowMicros, current);
  }

  /** Windows follow each other without a gap as long as units of the last one count. */
  #endOfWindow(endMicros: number, nowMicros: number): number {
    const { windowMicros } = this;
    if (endMicros > nowMicros) return endMicros;
    if (endMicros + windowMicros > nowMicros) return endMicros + windowMicros;
    return (Math.floor(nowMicros / windowMicros) + 1) * windowMicros;
  }
}
