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

/** The options of {@link fixedWindow}. */
export interface FixedWindowOptions {
  /** The most units in each window, a positive safe integer. */
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

/** The count of the current window. */
export interface FixedWindowState {
  endMicros: number;
  count: number;
  /** The scale of the largest limit that has recorded in the window. */
  scale: Scale;
  minDifference: MinDifferenceState | undefined;
}

/**
 * A counter per window. Windows follow each other on the clock, so a window of a day ends at midnight UTC. It needs the
 * least state, but a client can use twice the limit around the boundary of two windows.
 *
 * If the settings of a key in use change, the current window keeps its end and its count.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { fixedWindow } from '@rollgate/core';
 *
 * const limit = fixedWindow({ limit: 1000, window: '1d' });
 * limit.limit; // => 1000
 * ```
 */
export function fixedWindow(options: FixedWindowOptions): FixedWindow {
  return new FixedWindow(options);
}

/** See {@link fixedWindow}. Immutable. */
export class FixedWindow implements Limit<FixedWindowState> {
  readonly algorithm = 'fixed-window';
  readonly limit: number;
  readonly countRejected = false;
  readonly windowMicros: number;
  /** 0 if the limit has no `minDifference`. */
  readonly minDifferenceMicros: number;
  readonly keepMicros: number;
  readonly scale: Scale;

  constructor(options: FixedWindowOptions) {
    knownOptions('fixedWindow', options, ['limit', 'window', 'minDifference']);
    this.limit = positiveInteger('limit', options.limit);
    this.windowMicros = parseInterval('window', options.window) * 1000;
    this.minDifferenceMicros = parseMinDifference(options.minDifference);
    this.keepMicros = Math.max(this.windowMicros, this.minDifferenceMicros);
    this.scale = scaleOf(this.windowMicros);
    Object.freeze(this);
  }

  create(): FixedWindowState {
    return { endMicros: -Infinity, count: 0, scale: 0, minDifference: undefined };
  }

  expiresMicros({ endMicros, count, minDifference }: FixedWindowState): number {
    return Math.max(count > 0 ? endMicros : -Infinity, minDifferenceExpires(minDifference));
  }

  isPlausible({ endMicros, scale, minDifference }: FixedWindowState, nowMicros: number): boolean {
    return (
      isWithinScale(endMicros - nowMicros, scale) && isMinDifferencePlausible(minDifference, this.keepMicros, nowMicros)
    );
  }

  test({ endMicros, count, minDifference }: FixedWindowState, nowMicros: number, cost: number): Verdict {
    const isRunning = endMicros > nowMicros;
    const used = isRunning ? count : 0;
    const quotaWait = cost > this.limit ? Infinity : cost > this.limit - used ? endMicros - nowMicros : 0;
    const differenceWait = minDifferenceWait(minDifference, this.minDifferenceMicros, nowMicros);
    return {
      waitMicros: Math.max(quotaWait, differenceWait),
      reason: rejectionReason(quotaWait, differenceWait),
      delayMicros: 0,
      remaining: Math.max(0, this.limit - used),
      resetMicros: used > 0 ? endMicros - nowMicros : 0,
      // All units of one window are interchangeable.
      atMicros: isRunning ? endMicros : (Math.floor(nowMicros / this.windowMicros) + 1) * this.windowMicros,
    };
  }

  record(state: FixedWindowState, nowMicros: number, cost: number, { atMicros }: Verdict): Verdict {
    const isRunning = atMicros === state.endMicros;
    if (!isRunning) state.count = 0;
    state.scale = isRunning ? Math.max(state.scale, this.scale) : this.scale;
    state.endMicros = atMicros;
    state.count += cost;
    state.minDifference = nextMinDifference(state.minDifference, this.minDifferenceMicros, nowMicros);
    return this.test(state, nowMicros, cost);
  }

  refund(state: FixedWindowState, _nowMicros: number, { atMicros, cost }: Hit): void {
    if (state.endMicros === atMicros) state.count = Math.max(0, state.count - cost);
  }
}
