import { type Duration, parseDuration, parseInterval } from '../duration.js';
import { boolean, knownOptions, positiveInteger } from '../validate.js';
import { HitLog } from './hit-log.js';
import type { Hit, Limit, Verdict } from './limit.js';
import { rejectionReason } from './min-difference.js';

/** The options of {@link rollingWindow}. */
export interface RollingWindowOptions {
  /** The most units in any window, a positive safe integer. */
  limit: number;
  /** The window's length, in milliseconds or as text such as `'1m'`. */
  window: Duration;
  /**
   * The least time between two actions of a key, in milliseconds or as text such as `'3s'`.
   *
   * @defaultValue no minimum
   */
  minDifference?: Duration | undefined;
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
export class RollingWindow implements Limit<HitLog> {
  readonly algorithm = 'rolling-window';
  readonly limit: number;
  readonly countRejected: boolean;
  readonly windowMicros: number;
  /** 0 if the limit has no `minDifference`. */
  readonly minDifferenceMicros: number;
  readonly keepMicros: number;

  constructor(options: RollingWindowOptions) {
    knownOptions('rollingWindow', options, ROLLING_WINDOW_OPTIONS);
    const { minDifference, countRejected = false } = options;
    this.limit = positiveInteger('limit', options.limit);
    this.windowMicros = parseInterval('window', options.window) * 1000;
    this.minDifferenceMicros = minDifference === undefined ? 0 : parseDuration('minDifference', minDifference) * 1000;
    this.countRejected = boolean('countRejected', countRejected);
    this.keepMicros = Math.max(this.windowMicros, this.minDifferenceMicros);
    Object.freeze(this);
  }

  create(): HitLog {
    return new HitLog();
  }

  expiresMicros(log: HitLog): number {
    return log.newestMicros + this.#retentionOf(log);
  }

  isPlausible(log: HitLog, nowMicros: number): boolean {
    return log.newestMicros - nowMicros <= this.windowMicros;
  }

  test(log: HitLog, nowMicros: number, cost: number): Verdict {
    const atMicros = Math.max(nowMicros, log.newestMicros);
    const first = log.firstAfter(atMicros - this.windowMicros);
    const free = this.limit - log.unitsFrom(first);
    const quotaWait = cost <= free ? 0 : this.#quotaWait(log, nowMicros, cost, first, free);
    const differenceWait =
      this.minDifferenceMicros === 0 ? 0 : Math.max(0, log.newestMicros + this.minDifferenceMicros - nowMicros);
    return {
      waitMicros: Math.max(quotaWait, differenceWait),
      reason: rejectionReason(quotaWait, differenceWait),
      delayMicros: 0,
      remaining: Math.max(0, free),
      resetMicros: Math.max(0, log.newestMicros + this.windowMicros - nowMicros),
      atMicros,
    };
  }

  record(log: HitLog, nowMicros: number, cost: number, { atMicros }: Verdict): Verdict {
    if (this.minDifferenceMicros > (log.longestDifferenceMicros ?? 0)) {
      log.longestDifferenceMicros = this.minDifferenceMicros;
    }
    log.dropBefore(log.firstAfter(atMicros - this.#retentionOf(log)));
    if (this.countRejected) {
      // The newest `limit` units determine every decision, so older hits can be dropped.
      const units = Math.min(cost, this.limit);
      log.keepNewest(this.limit - units);
      log.append(atMicros, units);
    } else {
      log.append(atMicros, cost);
    }
    return this.test(log, nowMicros, cost);
  }

  refund(log: HitLog, _nowMicros: number, { atMicros, cost }: Hit): void {
    log.remove(atMicros, cost);
  }

  /** How long the log keeps hits. Another limit that has recorded in the key may have a longer `minDifference`. */
  #retentionOf({ longestDifferenceMicros }: HitLog): number {
    return longestDifferenceMicros === undefined ? this.keepMicros : Math.max(this.keepMicros, longestDifferenceMicros);
  }

  /** The wait until `cost` units are free, if the hits from `first` on leave only `free`. */
  #quotaWait(log: HitLog, nowMicros: number, cost: number, first: number, free: number): number {
    if (cost > this.limit) return Infinity;
    return log.timeOf(log.indexOfUnit(first, cost - free)) + this.windowMicros - nowMicros;
  }
}
