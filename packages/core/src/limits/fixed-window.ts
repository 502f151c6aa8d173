import { type Duration, parseInterval } from '../validation/duration.js';
import { validateOptionNames, validatePositiveInteger } from '../validation/validate.js';
import { warnOnce } from '../validation/warn-once.js';
import { isWithinScale, type Scale, scaleOf } from './clock-skew-bound.js';
import type { Hit, Limit, State, Verdict } from './limit.js';
import {
  createMinDifference,
  describeMinDifference,
  isMinDifferencePlausible,
  MIN_DIFFERENCE_SIZE,
  type MinDifferenceOption,
  minDifferenceExpires,
  minDifferenceWait,
  parseMinDifference,
  recordMinDifference,
  rejectionReason,
} from './min-difference.js';

/** The options of {@link fixedWindow}. */
export interface FixedWindowOptions extends MinDifferenceOption {
  /** The most units in each window, a positive safe integer. */
  limit: number;
  /** The window's length, in milliseconds or as text such as `'1m'`. */
  window: Duration;
}

// The numbers of the state, after those of min-difference.ts.
/** The end of the current window, or `-Infinity` before the first one. */
const END = MIN_DIFFERENCE_SIZE;
const COUNT = END + 1;
/** The scale of the largest limit that has recorded in the window. */
const SCALE = END + 2;

const DAY_MICROS = 24 * 60 * 60 * 1_000_000;

/**
 * A counter per window. Windows follow each other on the clock, so a window of a day ends at midnight UTC. Longer ones start
 * at multiples of their length since 1 January 1970, not with a week or a month. Rollgate warns once about them. The
 * algorithm needs the least state, but a client can use twice the limit around the boundary of two windows.
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
export class FixedWindow implements Limit {
  readonly algorithm = 'fixed-window';
  readonly limit: number;
  readonly countRejected = false;
  readonly windowMicros: number;
  /** 0 if the limit has no `minDifference`. */
  readonly minDifferenceMicros: number;
  readonly keepMicros: number;
  readonly stateSize = MIN_DIFFERENCE_SIZE + 3;
  /** The factors that turn units and time into whole numbers. */
  readonly scale: Scale;

  constructor(options: FixedWindowOptions) {
    validateOptionNames('fixedWindow', options, ['limit', 'window', 'minDifference']);
    this.limit = validatePositiveInteger('limit', options.limit);
    this.windowMicros = parseInterval('window', options.window) * 1000;
    if (this.windowMicros > DAY_MICROS) warnOnce('ROLLGATE_EPOCH_WINDOW', describeEpochWindow(this.windowMicros));
    this.minDifferenceMicros = parseMinDifference(options.minDifference);
    this.keepMicros = Math.max(this.windowMicros, this.minDifferenceMicros);
    this.scale = scaleOf(this.windowMicros);
    Object.freeze(this);
  }

  create(state: State): void {
    createMinDifference(state);
    state.numbers[state.start + END] = -Infinity;
    state.numbers[state.start + COUNT] = 0;
    state.numbers[state.start + SCALE] = 0;
  }

  expiresMicros(state: State): number {
    const { numbers, start } = state;
    return Math.max(numbers[start + COUNT]! > 0 ? numbers[start + END]! : -Infinity, minDifferenceExpires(state));
  }

  isPlausible(state: State, nowMicros: number): boolean {
    const { numbers, start } = state;
    return (
      isWithinScale(numbers[start + END]! - nowMicros, numbers[start + SCALE]!) &&
      isMinDifferencePlausible(state, this.keepMicros, nowMicros)
    );
  }

  describe(state: State): unknown {
    const [endMicros, count, scale] = state.numbers.subarray(state.start + END);
    return { endMicros, count, scale, minDifference: describeMinDifference(state) };
  }

  test(state: State, nowMicros: number, cost: number, verdict: Verdict): void {
    const { numbers, start } = state;
    const endMicros = numbers[start + END]!;
    const isRunning = endMicros > nowMicros;
    const used = isRunning ? numbers[start + COUNT]! : 0;
    const quotaWait = cost > this.limit ? Infinity : cost > this.limit - used ? endMicros - nowMicros : 0;
    const differenceWait = minDifferenceWait(state, this.minDifferenceMicros, nowMicros);
    verdict.waitMicros = Math.max(quotaWait, differenceWait);
    verdict.reason = rejectionReason(quotaWait, differenceWait);
    verdict.delayMicros = 0;
    verdict.remaining = Math.max(0, this.limit - used);
    verdict.resetMicros = used > 0 ? endMicros - nowMicros : 0;
    verdict.nextUnitMicros = verdict.resetMicros;
    // All units of one window are interchangeable.
    verdict.atMicros = isRunning ? endMicros : (Math.floor(nowMicros / this.windowMicros) + 1) * this.windowMicros;
  }

  record(state: State, nowMicros: number, cost: number, verdict: Verdict): void {
    const { numbers, start } = state;
    const { atMicros } = verdict;
    const isRunning = atMicros === numbers[start + END];
    if (!isRunning) numbers[start + COUNT] = 0;
    numbers[start + SCALE] = isRunning ? Math.max(numbers[start + SCALE]!, this.scale) : this.scale;
    numbers[start + END] = atMicros;
    numbers[start + COUNT] = Math.min(numbers[start + COUNT]! + cost, Number.MAX_SAFE_INTEGER);
    recordMinDifference(state, this.minDifferenceMicros, nowMicros);
    this.test(state, nowMicros, cost, verdict);
  }

  refund({ numbers, start }: State, _nowMicros: number, { atMicros, cost }: Hit, kept: number): void {
    if (numbers[start + END] === atMicros) numbers[start + COUNT] = Math.max(0, numbers[start + COUNT]! + kept - cost);
  }
}

/** The warning of a window that people take for one of the calendar. */
function describeEpochWindow(micros: number): string {
  return `The \`window\` of a fixedWindow is ${micros / DAY_MICROS} days. Its windows start at multiples of that time since 1 January 1970 UTC, not with a week or a month. Use a rollingWindow, or the calendarWindow of @rollgate/calendar`;
}
