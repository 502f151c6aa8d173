import { type Duration, parseInterval } from '../validation/duration.js';
import { validateOptionNames, validatePositiveInteger } from '../validation/validate.js';
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
import { mulDiv, mulDivUp } from './mul-div.js';

/** The options of {@link slidingWindowCounter}. */
export interface SlidingWindowCounterOptions extends MinDifferenceOption {
  /** The most units in the window according to the estimate, a positive safe integer. */
  limit: number;
  /** The window's length, in milliseconds or as text such as `'1m'`. */
  window: Duration;
}

// The numbers of the state, after those of min-difference.ts.
/** The end of the current window, or `-Infinity` before the first one. */
const END = MIN_DIFFERENCE_SIZE;
/** The window of the limit that recorded last. */
const WINDOW = END + 1;
/** The units of the current window, and those of the window before it. */
const CURRENT = END + 2;
const PREVIOUS = END + 3;
/** The scale of the largest limit that has recorded in the current window. */
const SCALE = END + 4;

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
export class SlidingWindowCounter implements Limit {
  readonly algorithm = 'sliding-window-counter';
  readonly limit: number;
  readonly countRejected = false;
  readonly windowMicros: number;
  /** 0 if the limit has no `minDifference`. */
  readonly minDifferenceMicros: number;
  readonly keepMicros: number;
  readonly stateSize = MIN_DIFFERENCE_SIZE + 5;
  /** The factors that turn units and time into whole numbers. */
  readonly scale: Scale;

  constructor(options: SlidingWindowCounterOptions) {
    validateOptionNames('slidingWindowCounter', options, ['limit', 'window', 'minDifference']);
    this.limit = validatePositiveInteger('limit', options.limit);
    this.windowMicros = parseInterval('window', options.window) * 1000;
    this.minDifferenceMicros = parseMinDifference(options.minDifference);
    this.keepMicros = Math.max(2 * this.windowMicros, this.minDifferenceMicros);
    this.scale = scaleOf(this.windowMicros);
    Object.freeze(this);
  }

  create(state: State): void {
    createMinDifference(state);
    state.numbers.set([-Infinity, 0, 0, 0, 0], state.start + END);
  }

  expiresMicros(state: State): number {
    const { numbers, start } = state;
    const endMicros = numbers[start + END]!;
    const counted =
      numbers[start + CURRENT]! > 0
        ? endMicros + numbers[start + WINDOW]!
        : numbers[start + PREVIOUS]! > 0
          ? endMicros
          : -Infinity;
    return Math.max(counted, minDifferenceExpires(state));
  }

  isPlausible(state: State, nowMicros: number): boolean {
    const { numbers, start } = state;
    const keepMicros = Math.max(this.windowMicros, this.minDifferenceMicros);
    return (
      isWithinScale(numbers[start + END]! - nowMicros, numbers[start + SCALE]!) &&
      isMinDifferencePlausible(state, keepMicros, nowMicros)
    );
  }

  describe(state: State): unknown {
    const [endMicros, windowMicros, current, previous, scale] = state.numbers.subarray(state.start + END);
    return { endMicros, windowMicros, current, previous, scale, minDifference: describeMinDifference(state) };
  }

  test(state: State, nowMicros: number, cost: number, verdict: Verdict): void {
    const { numbers, start } = state;
    const { windowMicros } = this;
    const endMicros = numbers[start + END]!;
    const current = numbers[start + CURRENT]!;
    // Until its end, the recorded window counts in full, and the one before it fades. Afterwards, the recorded one
    // fades.
    const isRunning = endMicros > nowMicros;
    const fadeEndMicros = isRunning ? endMicros : endMicros + windowMicros;
    const full = isRunning ? current : 0;
    const fading = isRunning ? numbers[start + PREVIOUS]! : current;
    const coveredMicros = Math.min(windowMicros, Math.max(0, fadeEndMicros - nowMicros));
    const free = this.limit - full - mulDivUp(fading, coveredMicros, windowMicros);
    const quotaWait =
      cost > this.limit
        ? Infinity
        : cost > free
          ? this.#timeOfUnits(state, this.limit - cost, isRunning) - nowMicros
          : 0;
    const differenceWait = minDifferenceWait(state, this.minDifferenceMicros, nowMicros);
    const countsUntil = current > 0 ? endMicros + windowMicros : fading > 0 ? fadeEndMicros : nowMicros;
    verdict.waitMicros = Math.max(quotaWait, differenceWait);
    verdict.reason = rejectionReason(quotaWait, differenceWait);
    verdict.delayMicros = 0;
    verdict.remaining = Math.max(0, free);
    verdict.resetMicros = Math.max(0, countsUntil - nowMicros);
    verdict.nextUnitMicros =
      free === this.limit ? 0 : this.#timeOfUnits(state, this.limit - verdict.remaining - 1, isRunning) - nowMicros;
    verdict.atMicros = this.#endOfWindow(endMicros, nowMicros);
  }

  record(state: State, nowMicros: number, cost: number, verdict: Verdict): void {
    const { numbers, start } = state;
    const { atMicros } = verdict;
    const endMicros = numbers[start + END]!;
    const isRunning = atMicros === endMicros;
    numbers[start + SCALE] = isRunning ? Math.max(numbers[start + SCALE]!, this.scale) : this.scale;
    if (!isRunning) {
      numbers[start + PREVIOUS] = atMicros === endMicros + this.windowMicros ? numbers[start + CURRENT]! : 0;
      numbers[start + CURRENT] = 0;
    }
    numbers[start + END] = atMicros;
    numbers[start + WINDOW] = this.windowMicros;
    numbers[start + CURRENT] = Math.min(numbers[start + CURRENT]! + cost, Number.MAX_SAFE_INTEGER);
    recordMinDifference(state, this.minDifferenceMicros, nowMicros);
    this.test(state, nowMicros, cost, verdict);
  }

  refund({ numbers, start }: State, _nowMicros: number, { atMicros, cost }: Hit, kept: number): void {
    if (numbers[start + WINDOW] !== this.windowMicros) return;
    const endMicros = numbers[start + END]!;
    const units = cost - kept;
    if (endMicros === atMicros) numbers[start + CURRENT] = Math.max(0, numbers[start + CURRENT]! - units);
    else if (endMicros === atMicros + this.windowMicros)
      numbers[start + PREVIOUS] = Math.max(0, numbers[start + PREVIOUS]! - units);
  }

  /** The time at which at most `most` units count. */
  #timeOfUnits({ numbers, start }: State, most: number, isRunning: boolean): number {
    const endMicros = numbers[start + END]!;
    const current = numbers[start + CURRENT]!;
    return isRunning && current <= most
      ? endMicros - mulDiv(most - current, this.windowMicros, numbers[start + PREVIOUS]!)
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
