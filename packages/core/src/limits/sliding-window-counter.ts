import type { Duration } from '../validation/duration.js';
import { isWithinScale, type Scale, scaleOf } from './clock-skew-bound.js';
import { type Hit, type Limit, type Mode, records, type State, type Verdict } from './limit.js';
import * as difference from './min-difference.js';
import { mulDiv, mulDivUp } from './mul-div.js';
import { parseWindow, type SharedOptions, WindowLimit } from './window-limit.js';

/** The options of {@link slidingWindowCounter}. */
export interface SlidingWindowCounterOptions extends SharedOptions {
  /**
   * The most units in the window according to the estimate: a positive safe integer, 0 to reject everything, or `Infinity` to limit nothing.
   */
  limit: number;
  /** The window's length, in milliseconds or as text such as `'1m'`. */
  window: Duration;
}

// The numbers of the state, after those of min-difference.ts.
/** The end of the current window, or `-Infinity` before the first one. */
const END = difference.SIZE;
/** The window of the limit that recorded last. */
const WINDOW = END + 1;
/** The units of the current window, and those of the window before it. */
export const CURRENT = END + 2;
export const PREVIOUS = END + 3;
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
export class SlidingWindowCounter extends WindowLimit<'sliding-window-counter'> implements Limit {
  readonly stateSize = difference.SIZE + 5;
  /** How far ahead of its clock the limit may write. */
  readonly scale: Scale;

  constructor(options: SlidingWindowCounterOptions) {
    const window = parseWindow('slidingWindowCounter', options);
    super('sliding-window-counter', window, options, 2 * window.windowMicros);
    this.scale = scaleOf(this.windowMicros);
    Object.freeze(this);
  }

  create(state: State): void {
    difference.create(state);
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
    return difference.expiresAfter(counted, state);
  }

  isPlausible(state: State, nowMicros: number): boolean {
    const { numbers, start } = state;
    const keepMicros = Math.max(this.windowMicros, this.minDifferenceMicros);
    const isWithin = isWithinScale(numbers[start + END]! - nowMicros, numbers[start + SCALE]!);
    return isWithin && difference.isPlausible(state, keepMicros, nowMicros);
  }

  describe(state: State): unknown {
    const [endMicros, windowMicros, current, previous, scale] = state.numbers.subarray(state.start + END);
    return { endMicros, windowMicros, current, previous, scale, minDifference: difference.describe(state) };
  }

  apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const { limit, windowMicros, minDifferenceMicros } = this;
    const { numbers, start } = state;
    const recordedEnd = numbers[start + END]!;
    const endMicros = this.#endOfWindow(recordedEnd, nowMicros);
    // In the current window, the recorded one counts in full if it is the same, and fades if it is the one before.
    const isSame = endMicros === recordedEnd;
    let current = isSame ? numbers[start + CURRENT]! : 0;
    const previous = isSame
      ? numbers[start + PREVIOUS]!
      : endMicros === recordedEnd + windowMicros
        ? numbers[start + CURRENT]!
        : 0;
    const faded = mulDivUp(previous, Math.min(windowMicros, endMicros - nowMicros), windowMicros);
    const free = limit - current - faded;
    const timeOfUnits = (most: number) =>
      current <= most
        ? endMicros - mulDiv(most - current, windowMicros, previous)
        : endMicros + windowMicros - mulDiv(most, windowMicros, current);
    verdict.waitMicros = cost <= free ? 0 : cost > limit ? Infinity : timeOfUnits(limit - cost) - nowMicros;
    verdict.reason = 'limit';
    verdict.delayMicros = 0;
    verdict.atMicros = endMicros;
    difference.judge(state, minDifferenceMicros, nowMicros, verdict);
    if (records(mode, verdict.waitMicros)) {
      current = Math.min(current + cost, Number.MAX_SAFE_INTEGER);
      numbers[start + SCALE] = isSame ? Math.max(numbers[start + SCALE]!, this.scale) : this.scale;
      numbers[start + END] = endMicros;
      numbers[start + WINDOW] = windowMicros;
      numbers[start + CURRENT] = current;
      numbers[start + PREVIOUS] = previous;
      difference.record(state, minDifferenceMicros, nowMicros);
    }
    const remaining = Math.max(0, limit - current - faded);
    verdict.remaining = remaining;
    verdict.resetMicros = current > 0 ? endMicros + windowMicros - nowMicros : previous > 0 ? endMicros - nowMicros : 0;
    verdict.nextUnitMicros = current + faded === 0 ? 0 : timeOfUnits(limit - remaining - 1) - nowMicros;
    verdict.expiresMicros = this.expiresMicros(state);
  }

  refund({ numbers, start }: State, _nowMicros: number, { atMicros, cost }: Hit, kept: number): void {
    if (numbers[start + WINDOW] !== this.windowMicros) return;
    const endMicros = numbers[start + END]!;
    const units = cost - kept;
    if (endMicros === atMicros) numbers[start + CURRENT] = Math.max(0, numbers[start + CURRENT]! - units);
    else if (endMicros === atMicros + this.windowMicros)
      numbers[start + PREVIOUS] = Math.max(0, numbers[start + PREVIOUS]! - units);
  }

  /** Windows follow each other without a gap as long as units of the last one count. */
  #endOfWindow(endMicros: number, nowMicros: number): number {
    const { windowMicros } = this;
    if (endMicros > nowMicros) return endMicros;
    if (endMicros + windowMicros > nowMicros) return endMicros + windowMicros;
    return (Math.floor(nowMicros / windowMicros) + 1) * windowMicros;
  }
}
