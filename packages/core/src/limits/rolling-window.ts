import { type Duration, parseDuration, parseInterval } from '../validation/duration.js';
import { validateBoolean, validateOptionNames, validatePositiveInteger } from '../validation/validate.js';
import {
  addHit,
  createLog,
  DIFFERENCE,
  DROPPED,
  describeHits,
  dropBefore,
  FIRST,
  firstAfter,
  HITS,
  isLogIntact,
  keepNewest,
  LOG_SIZE,
  NEWEST,
  placeOf,
  RETENTION,
  RING,
  removeUnits,
  timeOfUnit,
  unitsFrom,
} from './hit-log.js';
import { CHECK, type Hit, type Limit, type Mode, type State, TEST, type Verdict } from './limit.js';
import type { MinDifferenceOption } from './min-difference.js';

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

/** More hits than these are searched, because many may leave the window at once. */
const MOST_STEPS = 4;

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

  expiresMicros({ numbers, start }: State): number {
    return numbers[start + NEWEST]! + numbers[start + RETENTION]!;
  }

  isPlausible({ numbers, start }: State, nowMicros: number): boolean {
    return numbers[start + NEWEST]! - nowMicros <= this.windowMicros;
  }

  isIntact(log: State): boolean {
    return isLogIntact(log);
  }

  describe(log: State): unknown {
    return {
      hits: describeHits(log),
      retentionMicros: log.numbers[log.start + RETENTION],
      longestDifferenceMicros: log.numbers[log.start + DIFFERENCE],
    };
  }

  apply(log: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const { limit, windowMicros } = this;
    const { numbers, start } = log;
    const newestMicros = numbers[start + NEWEST]!;
    const atMicros = newestMicros > nowMicros ? newestMicros : nowMicros;
    const startMicros = atMicros - windowMicros;
    // A hit leaves the window so long after its time.
    const toEnd = windowMicros - nowMicros;

    // Usually only a few hits have left the window since the last record. Then this takes less time than a search.
    const hits = numbers[start + HITS]! | 0;
    const dropped = numbers[start + DROPPED]!;
    const capacity = dropped < 0 ? log.size - RING : (log.size - RING) >> 1;
    let place = numbers[start + FIRST]! | 0;
    let left = hits;
    while (left > 0 && numbers[start + RING + place]! <= startMicros) {
      if (hits - left === MOST_STEPS) {
        left = hits - firstAfter(log, startMicros);
        place = placeOf(log, hits - left);
        break;
      }
      left -= 1;
      place = place + 1 === capacity ? 0 : place + 1;
    }
    const first = hits - left;
    const used = dropped < 0 ? left : unitsFrom(log, first);
    const free = limit - used;
    const nextMicros =
      used === 0 ? 0 : free < 0 ? timeOfUnit(log, first, 1 - free) + toEnd : numbers[start + RING + place]! + toEnd;

    let waitMicros = 0;
    if (cost > free)
      waitMicros =
        cost > limit ? Infinity : cost - free === 1 ? nextMicros : timeOfUnit(log, first, cost - free) + toEnd;
    verdict.reason = 'limit';
    if (this.minDifferenceMicros > 0 && newestMicros + this.minDifferenceMicros - nowMicros > waitMicros) {
      waitMicros = newestMicros + this.minDifferenceMicros - nowMicros;
      verdict.reason = 'minDifference';
    }
    verdict.waitMicros = waitMicros;
    verdict.delayMicros = 0;
    verdict.atMicros = atMicros;
    if (mode === TEST || (mode === CHECK && waitMicros > 0 && !this.countRejected)) {
      verdict.remaining = free > 0 ? free : 0;
      verdict.resetMicros = newestMicros + toEnd > 0 ? newestMicros + toEnd : 0;
      verdict.nextUnitMicros = nextMicros;
      verdict.expiresMicros = newestMicros + numbers[start + RETENTION]!;
      return;
    }

    // The log is kept as long as this limit requires, and at least for the longest `minDifference` of all that have recorded.
    const longestMicros = numbers[start + DIFFERENCE]!;
    const retentionMicros = longestMicros > this.keepMicros ? longestMicros : this.keepMicros;
    numbers[start + RETENTION] = retentionMicros;
    if (this.minDifferenceMicros > longestMicros) numbers[start + DIFFERENCE] = this.minDifferenceMicros;
    const kept = retentionMicros === windowMicros ? first : firstAfter(log, atMicros - retentionMicros);
    if (this.countRejected) {
      this.#recordAttempt(log, kept, nowMicros, cost, verdict, mode);
      return;
    }
    addHit(log, kept, atMicros, cost, limit, startMicros);
    verdict.remaining = free - cost;
    verdict.resetMicros = atMicros + toEnd;
    verdict.nextUnitMicros = used === 0 ? verdict.resetMicros : nextMicros;
    verdict.expiresMicros = atMicros + retentionMicros;
  }

  refund(log: State, _nowMicros: number, { atMicros, cost }: Hit, kept: number): void {
    removeUnits(log, atMicros, cost - kept);
  }

  /** Only the newest `limit` units affect decisions, so older hits can be dropped. */
  #recordAttempt(log: State, kept: number, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const { atMicros, waitMicros, reason } = verdict;
    const units = Math.min(cost, this.limit);
    dropBefore(log, kept);
    keepNewest(log, this.limit - units);
    addHit(log, 0, atMicros, units, this.limit, atMicros - this.windowMicros);
    this.apply(log, nowMicros, cost, verdict, TEST);
    if (waitMicros > 0)
      verdict.reason = reason; // Even if the attempt has filled the window.
    else if (mode === CHECK) verdict.waitMicros = 0;
    verdict.atMicros = atMicros;
  }
}

/** Whether the limit is a rolling window without special options, of any installed version of this package. */
export function isPlainWindow(limit: Limit): boolean {
  const { algorithm, countRejected, minDifferenceMicros } = limit as RollingWindow;
  return algorithm === 'rolling-window' && !countRejected && minDifferenceMicros === 0;
}
