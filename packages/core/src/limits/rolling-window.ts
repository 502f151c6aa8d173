import type { Duration } from '../validation/duration.js';
import { validateBoolean } from '../validation/validate.js';
import * as hitLog from './hit-log.js';
import { CHECK, type Hit, type Limit, type Mode, START_BITS, type State, TEST, type Verdict } from './limit.js';
import { parseWindow, type SharedOptions, WindowLimit } from './window-limit.js';

/** The options of {@link rollingWindow}. */
export interface RollingWindowOptions extends SharedOptions {
  /**
   * The most units in any window: a positive safe integer, 0 to reject everything, or `Infinity` to limit nothing.
   */
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
export const ROLLING_WINDOW_OPTIONS = [
  'limit',
  'window',
  'minDifference',
  'countRejected',
  'blockFor',
  'enforce',
] as const;

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
export class RollingWindow extends WindowLimit<'rolling-window'> implements Limit {
  readonly stateSize = hitLog.SIZE_FOR_ONE;

  constructor(options: RollingWindowOptions) {
    const window = parseWindow('rollingWindow', options, ROLLING_WINDOW_OPTIONS);
    const { countRejected = false } = options;
    validateBoolean('countRejected', countRejected);
    super('rolling-window', window, options, window.windowMicros, countRejected);
    Object.freeze(this);
  }

  create(log: State): void {
    hitLog.create(log);
  }

  expiresMicros({ numbers, start }: State): number {
    return numbers[start + hitLog.NEWEST]! + numbers[start + hitLog.RETENTION]!;
  }

  isPlausible({ numbers, start }: State, nowMicros: number): boolean {
    return numbers[start + hitLog.NEWEST]! - nowMicros <= this.windowMicros;
  }

  isIntact(log: State): boolean {
    return hitLog.isIntact(log);
  }

  describe(log: State): unknown {
    return {
      hits: hitLog.describe(log),
      retentionMicros: log.numbers[log.start + hitLog.RETENTION],
      longestDifferenceMicros: log.numbers[log.start + hitLog.DIFFERENCE],
    };
  }

  apply(log: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const { limit, windowMicros, minDifferenceMicros } = this;
    const { numbers } = log;
    const start = log.start & START_BITS;
    const newestMicros = numbers[start + hitLog.NEWEST]!;
    const atMicros = Math.max(newestMicros, nowMicros);
    const startMicros = atMicros - windowMicros;
    // A hit leaves the window so long after its time.
    const toEnd = windowMicros - nowMicros;

    // Usually only a few hits have left the window since the last record. Then this takes less time than a search.
    const hits = numbers[start + hitLog.HITS]! | 0;
    const dropped = numbers[start + hitLog.DROPPED]!;
    const capacity = dropped < 0 ? log.size - hitLog.RING : (log.size - hitLog.RING) >> 1;
    let place = numbers[start + hitLog.FIRST]! | 0;
    let left = hits;
    while (left > 0 && numbers[start + hitLog.RING + place]! <= startMicros) {
      if (hits - left === MOST_STEPS) {
        left = hits - hitLog.firstAfter(log, startMicros);
        place = hitLog.placeOf(log, hits - left);
        break;
      }
      left -= 1;
      place = place + 1 === capacity ? 0 : place + 1;
    }
    const first = hits - left;

    // Without totals, each hit is one unit.
    let totalLeft = 0;
    let total = left;
    if (dropped >= 0) {
      const totals = start + hitLog.RING + capacity;
      totalLeft = first === 0 ? dropped : numbers[totals + (place === 0 ? capacity : place) - 1]!;
      const last = place + left - 1;
      total = left === 0 ? totalLeft : numbers[totals + (last < capacity ? last : last - capacity)]!;
    }
    const used = total - totalLeft;
    const free = limit - used;
    const nextMicros =
      left === 0
        ? 0
        : free < 0
          ? hitLog.timeOfUnit(log, first, 1 - free) + toEnd
          : numbers[start + hitLog.RING + place]! + toEnd;

    let waitMicros = 0;
    if (cost > free) {
      verdict.reason = 'limit';
      waitMicros =
        cost > limit ? Infinity : cost - free === 1 ? nextMicros : hitLog.timeOfUnit(log, first, cost - free) + toEnd;
    }
    if (minDifferenceMicros > 0 && newestMicros + minDifferenceMicros - nowMicros > waitMicros) {
      waitMicros = newestMicros + minDifferenceMicros - nowMicros;
      verdict.reason = 'minDifference';
    }
    verdict.waitMicros = waitMicros;
    verdict.delayMicros = 0;
    verdict.atMicros = atMicros;
    if (mode === TEST || (mode === CHECK && waitMicros > 0 && !this.countRejected)) {
      verdict.remaining = free > 0 ? free : 0;
      verdict.resetMicros = newestMicros + toEnd > 0 ? newestMicros + toEnd : 0;
      verdict.nextUnitMicros = nextMicros;
      verdict.expiresMicros = newestMicros + numbers[start + hitLog.RETENTION]!;
      return;
    }

    // The log is kept as long as this limit requires, and at least for the longest `minDifference` of all that have recorded.
    let kept = first;
    let retentionMicros = numbers[start + hitLog.RETENTION]!;
    if (retentionMicros !== windowMicros || minDifferenceMicros > 0) {
      const longestMicros = Math.max(numbers[start + hitLog.DIFFERENCE]!, minDifferenceMicros);
      retentionMicros = Math.max(longestMicros, windowMicros);
      numbers[start + hitLog.DIFFERENCE] = longestMicros;
      numbers[start + hitLog.RETENTION] = retentionMicros;
      if (retentionMicros > windowMicros) kept = hitLog.firstAfter(log, atMicros - retentionMicros);
    }
    if (this.countRejected) {
      this.#recordAttempt(log, kept, nowMicros, cost, verdict, mode);
      return;
    }
    const fits = left < capacity && (first === 0 || 8 * left >= capacity);
    if (fits && kept === first && (dropped < 0 ? cost === 1 : total + cost <= Number.MAX_SAFE_INTEGER)) {
      const end = place + left < capacity ? place + left : place + left - capacity;
      numbers[start + hitLog.RING + end] = atMicros;
      numbers[start + hitLog.HITS] = left + 1;
      numbers[start + hitLog.FIRST] = place;
      numbers[start + hitLog.NEWEST] = atMicros;
      if (dropped >= 0) {
        numbers[start + hitLog.RING + capacity + end] = total + cost;
        numbers[start + hitLog.DROPPED] = totalLeft;
      }
    } else {
      hitLog.addHit(log, kept, atMicros, cost, limit, startMicros);
    }
    verdict.remaining = free - cost;
    verdict.resetMicros = atMicros + toEnd;
    verdict.nextUnitMicros = left === 0 ? verdict.resetMicros : nextMicros;
    verdict.expiresMicros = atMicros + retentionMicros;
  }

  refund(log: State, _nowMicros: number, { atMicros, cost }: Hit, kept: number): void {
    hitLog.removeUnits(log, atMicros, cost - kept);
  }

  /** Only the newest `limit` units affect decisions, so older hits can be dropped. */
  #recordAttempt(log: State, kept: number, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const { atMicros, waitMicros, reason } = verdict;
    const units = Math.min(cost, this.limit);
    hitLog.dropBefore(log, kept);
    hitLog.keepNewest(log, this.limit - units);
    hitLog.addHit(log, 0, atMicros, units, this.limit, atMicros - this.windowMicros);
    this.apply(log, nowMicros, cost, verdict, TEST);
    if (waitMicros > 0)
      verdict.reason = reason; // Even if the attempt has filled the window.
    else if (mode === CHECK) verdict.waitMicros = 0;
    verdict.atMicros = atMicros;
  }
}

/** Whether the limit is a rolling window without special options, of any installed version of this package. */
export function isPlainWindow(limit: Limit): boolean {
  const { algorithm, countRejected, minDifferenceMicros, blockFor } = limit as RollingWindow;
  return algorithm === 'rolling-window' && !countRejected && minDifferenceMicros === 0 && !blockFor;
}
