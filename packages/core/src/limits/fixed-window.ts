import type { Duration } from '../validation/duration.js';
import { warnOnce } from '../validation/warn-once.js';
import { isWithinScale, type Scale, scaleOf } from './clock-skew-bound.js';
import { CHECK, type Hit, type Limit, type Mode, START_BITS, type State, type Verdict } from './limit.js';
import * as difference from './min-difference.js';
import { parseWindow, type SharedOptions, WindowLimit } from './window-limit.js';

/** The options of {@link fixedWindow}. */
export interface FixedWindowOptions extends SharedOptions {
  /**
   * The most units in each window: a positive safe integer, 0 to reject everything, or `Infinity` to limit nothing.
   */
  limit: number;
  /** The window's length, in milliseconds or as text such as `'1m'`. */
  window: Duration;
}

// The numbers of the state, after those of min-difference.ts.
/** The end of the current window, or `-Infinity` before the first one. */
const END = difference.SIZE;
export const COUNT = END + 1;
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
export class FixedWindow extends WindowLimit<'fixed-window'> implements Limit {
  readonly stateSize = difference.SIZE + 3;
  /** How far ahead of its clock the limit may write. */
  readonly scale: Scale;

  constructor(options: FixedWindowOptions) {
    super('fixed-window', parseWindow('fixedWindow', options), options);
    if (this.windowMicros > DAY_MICROS) warnOnce('ROLLGATE_EPOCH_WINDOW', describeEpochWindow(this.windowMicros));
    this.scale = scaleOf(this.windowMicros);
    Object.freeze(this);
  }

  create(state: State): void {
    difference.create(state);
    state.numbers[state.start + END] = -Infinity;
    state.numbers[state.start + COUNT] = 0;
    state.numbers[state.start + SCALE] = 0;
  }

  expiresMicros(state: State): number {
    const { numbers, start } = state;
    const endMicros = numbers[start + COUNT]! > 0 ? numbers[start + END]! : -Infinity;
    return numbers[start + difference.LONGEST] === 0 ? endMicros : difference.expiresAfter(endMicros, state);
  }

  isPlausible(state: State, nowMicros: number): boolean {
    const { numbers, start } = state;
    const isWithin = isWithinScale(numbers[start + END]! - nowMicros, numbers[start + SCALE]!);
    return isWithin && difference.isPlausible(state, this.keepMicros, nowMicros);
  }

  describe(state: State): unknown {
    const [endMicros, count, scale] = state.numbers.subarray(state.start + END);
    return { endMicros, count, scale, minDifference: difference.describe(state) };
  }

  apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const { limit, windowMicros, minDifferenceMicros } = this;
    const { numbers } = state;
    const start = state.start & START_BITS;
    const endMicros = numbers[start + END]!;
    const isRunning = endMicros > nowMicros;
    // All units of one window are interchangeable.
    const atMicros = isRunning ? endMicros : (Math.floor(nowMicros / windowMicros) + 1) * windowMicros;
    let units = isRunning ? numbers[start + COUNT]! : 0;
    verdict.waitMicros = 0;
    if (cost > limit - units) {
      verdict.waitMicros = cost > limit ? Infinity : endMicros - nowMicros;
      verdict.reason = 'limit';
    }
    verdict.delayMicros = 0;
    verdict.atMicros = atMicros;
    if (minDifferenceMicros > 0) difference.judge(state, minDifferenceMicros, nowMicros, verdict);
    if (mode > CHECK || (mode === CHECK && verdict.waitMicros === 0)) {
      units = Math.min(units + cost, Number.MAX_SAFE_INTEGER);
      numbers[start + SCALE] = isRunning ? Math.max(numbers[start + SCALE]!, this.scale) : this.scale;
      numbers[start + END] = atMicros;
      numbers[start + COUNT] = units;
      if (minDifferenceMicros > 0 || numbers[start + difference.LONGEST] !== 0) {
        difference.record(state, minDifferenceMicros, nowMicros);
      }
    }
    verdict.remaining = Math.max(0, limit - units);
    verdict.resetMicros = verdict.nextUnitMicros = units > 0 ? atMicros - nowMicros : 0;
    verdict.expiresMicros = units > 0 ? atMicros : -Infinity;
    if (numbers[start + difference.LONGEST] !== 0)
      verdict.expiresMicros = difference.expiresAfter(verdict.expiresMicros, state);
  }

  refund({ numbers, start }: State, _nowMicros: number, { atMicros, cost }: Hit, kept: number): void {
    if (numbers[start + END] === atMicros) numbers[start + COUNT] = Math.max(0, numbers[start + COUNT]! + kept - cost);
  }
}

/** The warning of a window that people take for one of the calendar. */
function describeEpochWindow(micros: number): string {
  return `The \`window\` of a fixedWindow is ${micros / DAY_MICROS} days. Its windows start at multiples of that time since 1 January 1970 UTC, not with a week or a month. Use a rollingWindow, or the calendarWindow of @rollgate/calendar`;
}
