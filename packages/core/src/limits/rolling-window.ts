import { type Duration, parseDuration, parseInterval } from '../validation/duration.js';
import { validateBoolean, validateOptionNames, validatePositiveInteger } from '../validation/validate.js';
import {
  append,
  describeHits,
  dropBefore,
  firstAfter,
  indexOfUnit,
  keepNewest,
  removeUnits,
  unitsFrom,
} from './hit-log.js';
import { createLog, DIFFERENCE, LOG_SIZE, newestOf, RETENTION, timeOf } from './hit-ring.js';
import type { Hit, Limit, State, Verdict } from './limit.js';
import { type MinDifferenceOption, rejectionReason } from './min-difference.js';

/** The options of {@link rollingWindow}. */
export interface RollingWindowOptions extends MinDifferenceOption {
  /** The most units in any window, a positive safe integer. */
  limit: number;
  /** The window's length, in milliseconds or as text such as `'1m'`. */
  window: Duration;
  /**
   * Whether a rejected attempt counts like an allowed one. A client must then pause to be allowed again.
   *
   * @defaultValue `false`
   */
  countRejected?: boolean | undefined;
}

/** The names of all {@link RollingWindowOptions}, for adapters that accept them next to other options. */
export const ROLLING_WINDOW_OPTIONS = ['limit', 'window', 'minDifference', 'countRejected'] as const;

/**
 * At no instant do more than `limit` units lie inside the last `window`. A hit at `t` counts at `now` exactly when
 * `t > now - window`. The algorithm is exact, but keeps the time of every hit in the window.
 *
 * It is the sliding-window log that Redis users know from sorted sets: drop the hits that left the window, count, add.
 * Unlike there, rejected attempts do not count unless `countRejected` is `true`.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { rollingWindow } from '@rollgate/core';
 *
 * const limit = rollingWindow({ limit: 10, window: '1m', minDifference: '3s' });
 * limit.limit; // => 10
 * ```
 */
export function rollingWindow(options: RollingWindowOptions): RollingWindow {
  return new RollingWindow(options);
}

/** See {@link rollingWindow}. Immutable. */
export class RollingWindow implements Limit {
  readonly algorithm = 'rolling-window';
  readonly limit: number;
  readonly countRejected: boolean;
  readonly windowMicros: number;
  /** 0 if the limit has no `minDifference`. */
  readonly minDifferenceMicros: number;
  readonly keepMicros: number;
  readonly stateSize = LOG_SIZE;

  constructor(options: RollingWindowOptions) {
    validateOptionNames('rollingWindow', options, ROLLING_WINDOW_OPTIONS);
    const { minDifference, countRejected = false } = options;
    this.limit = validatePositiveInteger('limit', options.limit);
    this.windowMicros = parseInterval('window', options.window) * 1000;
    this.minDifferenceMicros = minDifference === undefined ? 0 : parseDuration('minDifference', minDifference) * 1000;
    this.countRejected = validateBoolean('countRejected', countRejected);
    this.keepMicros = Math.max(this.windowMicros, this.minDifferenceMicros);
    Object.freeze(this);
  }

  create(log: State): void {
    createLog(log);
  }

  expiresMicros(log: State): number {
    return newestOf(log) + retentionOf(log);
  }

  isPlausible(log: State, nowMicros: number): boolean {
    return newestOf(log) - nowMicros <= this.windowMicros;
  }

  describe(log: State): unknown {
    return {
      hits: describeHits(log),
      retentionMicros: retentionOf(log),
      longestDifferenceMicros: longestDifference(log),
    };
  }

  test(log: State, nowMicros: number, cost: number, verdict: Verdict): void {
    const newestMicros = newestOf(log);
    const atMicros = Math.max(nowMicros, newestMicros);
    const first = firstAfter(log, atMicros - this.windowMicros);
    const free = this.limit - unitsFrom(log, first);
    const quotaWait = cost <= free ? 0 : this.#quotaWait(log, nowMicros, cost, first, free);
    const differenceWait =
      this.minDifferenceMicros === 0 ? 0 : Math.max(0, newestMicros + this.minDifferenceMicros - nowMicros);
    verdict.waitMicros = Math.max(quotaWait, differenceWait);
    verdict.reason = rejectionReason(quotaWait, differenceWait);
    verdict.delayMicros = 0;
    verdict.remaining = Math.max(0, free);
    verdict.resetMicros = Math.max(0, newestMicros + this.windowMicros - nowMicros);
    verdict.nextUnitMicros = free === this.limit ? 0 : this.#waitForUnit(log, nowMicros, first, Math.max(1, 1 - free));
    verdict.atMicros = atMicros;
  }

  record(log: State, nowMicros: number, cost: number, verdict: Verdict): void {
    const { atMicros, waitMicros, reason } = verdict;
    const startMicros = atMicros - this.windowMicros;
    this.#keepAsLongAs(log);
    dropBefore(log, firstAfter(log, atMicros - retentionOf(log)));
    if (this.countRejected) {
      // Only the newest `limit` units affect decisions, so older hits can be dropped.
      const units = Math.min(cost, this.limit);
      keepNewest(log, this.limit - units);
      append(log, atMicros, units, this.limit, startMicros);
      this.test(log, nowMicros, cost, verdict);
      // What rejected the attempt stays its reason, even if the attempt has filled the window.
      if (waitMicros > 0) verdict.reason = reason;
    } else {
      append(log, atMicros, cost, this.limit, startMicros);
      verdict.remaining -= cost; // Negative only after an overdraft, whose verdict has no meaning.
      verdict.resetMicros = atMicros + this.windowMicros - nowMicros;
      verdict.nextUnitMicros = this.#waitForUnit(log, nowMicros, firstAfter(log, startMicros), 1);
    }
  }

  refund(log: State, _nowMicros: number, { atMicros, cost }: Hit, kept: number): void {
    removeUnits(log, atMicros, cost - kept);
  }

  /**
   * Keeps the log as long as this limit requires, and at least for the longest `minDifference` of all limits that have
   * recorded.
   */
  #keepAsLongAs({ numbers, start }: State): void {
    const { keepMicros, minDifferenceMicros } = this;
    if (minDifferenceMicros > numbers[start + DIFFERENCE]!) numbers[start + DIFFERENCE] = minDifferenceMicros;
    numbers[start + RETENTION] = Math.max(keepMicros, numbers[start + DIFFERENCE]!);
  }

  /** The wait until `cost` units are free, if the hits from `first` on leave only `free`. */
  #quotaWait(log: State, nowMicros: number, cost: number, first: number, free: number): number {
    if (cost > this.limit) return Infinity;
    return this.#waitForUnit(log, nowMicros, first, cost - free);
  }

  /** The wait until the `units`-th unit, counted from the hit at `first`, has left the window. */
  #waitForUnit(log: State, nowMicros: number, first: number, units: number): number {
    return timeOf(log, indexOfUnit(log, first, units)) + this.windowMicros - nowMicros;
  }
}

function retentionOf(log: State): number {
  return log.numbers[log.start + RETENTION]!;
}

function longestDifference({ numbers, start }: State): number {
  return numbers[start + DIFFERENCE]!;
}

/** Whether the limit is a rolling window without special options, of any installed version of this package. */
export function isPlainWindow(limit: Limit): boolean {
  const { algorithm, countRejected, minDifferenceMicros } = limit as RollingWindow;
  return algorithm === 'rolling-window' && !countRejected && minDifferenceMicros === 0;
}
