import { type Duration, parseInterval } from '../duration.js';
import { integerBetween, knownOptions, positiveInteger } from '../validate.js';
import { BucketCounts, MAX_BUCKETS } from './bucket-counts.js';
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

/** The options of {@link bucketedWindow}. */
export interface BucketedWindowOptions {
  /** The most units in any window, a positive safe integer. */
  limit: number;
  /** The window's length, in milliseconds or as text such as `'1m'`. */
  window: Duration;
  /**
   * The number of buckets in a window, from 1 to 3,600.
   *
   * @defaultValue 60
   */
  buckets?: number | undefined;
  /**
   * The least time between two actions of a key, in milliseconds or as text such as `'3s'`.
   *
   * @defaultValue no minimum
   */
  minDifference?: Duration | undefined;
}

/** The units per bucket, and the window of the limit that recorded last. */
export interface BucketedWindowState {
  readonly counts: BucketCounts;
  windowMicros: number;
  minDifference: MinDifferenceState | undefined;
}

/**
 * A rolling window that counts actions in time buckets instead of remembering each time. At no instant do more than
 * `limit` units lie inside the last `window`, and the state does not grow with the limit. A bucket counts in full until
 * all of it has left the window. So an action may be rejected for up to one bucket longer than necessary.
 *
 * If the settings of a key in use change, the counts stay, in buckets of the finer of the two widths.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { bucketedWindow } from '@rollgate/core';
 *
 * const limit = bucketedWindow({ limit: 100_000, window: '1h', buckets: 60 });
 * limit.limit; // => 100000
 * ```
 */
export function bucketedWindow(options: BucketedWindowOptions): BucketedWindow {
  return new BucketedWindow(options);
}

/** See {@link bucketedWindow}. Immutable. */
export class BucketedWindow implements Limit<BucketedWindowState> {
  readonly algorithm = 'bucketed-window';
  readonly limit: number;
  readonly countRejected = false;
  readonly windowMicros: number;
  /** The length of a bucket. Rounded up, so that the window never overlaps more than `buckets` and a part of one. */
  readonly widthMicros: number;
  /** 0 if the limit has no `minDifference`. */
  readonly minDifferenceMicros: number;
  readonly keepMicros: number;

  constructor(options: BucketedWindowOptions) {
    knownOptions('bucketedWindow', options, ['limit', 'window', 'buckets', 'minDifference']);
    this.limit = positiveInteger('limit', options.limit);
    this.windowMicros = parseInterval('window', options.window) * 1000;
    this.widthMicros = Math.ceil(this.windowMicros / integerBetween('buckets', options.buckets ?? 60, 1, MAX_BUCKETS));
    this.minDifferenceMicros = parseMinDifference(options.minDifference);
    this.keepMicros = Math.max(this.windowMicros + this.widthMicros, this.minDifferenceMicros);
    Object.freeze(this);
  }

  create(): BucketedWindowState {
    return { counts: new BucketCounts(), windowMicros: 0, minDifference: undefined };
  }

  expiresMicros({ counts, windowMicros, minDifference }: BucketedWindowState): number {
    return Math.max(counts.newestEndMicros + windowMicros, minDifferenceExpires(minDifference));
  }

  isPlausible({ counts, minDifference }: BucketedWindowState, nowMicros: number): boolean {
    const keepMicros = Math.max(this.windowMicros, this.minDifferenceMicros);
    return (
      counts.newestStartMicros - nowMicros <= this.windowMicros &&
      isMinDifferencePlausible(minDifference, keepMicros, nowMicros)
    );
  }

  test({ counts, minDifference }: BucketedWindowState, nowMicros: number, cost: number): Verdict {
    const { limit, windowMicros } = this;
    const latestMicros = Math.max(nowMicros, counts.newestStartMicros);
    const used = counts.unitsAfter(latestMicros - windowMicros);
    const free = limit - used;
    const quotaWait =
      cost > limit
        ? Infinity
        : cost > free
          ? counts.endOfUnit(latestMicros - windowMicros, cost - free) + windowMicros - nowMicros
          : 0;
    const differenceWait = minDifferenceWait(minDifference, this.minDifferenceMicros, nowMicros);
    const widthMicros = used > 0 ? counts.widthFor(this.widthMicros, windowMicros) : this.widthMicros;
    return {
      waitMicros: Math.max(quotaWait, differenceWait),
      reason: rejectionReason(quotaWait, differenceWait),
      delayMicros: 0,
      remaining: Math.max(0, free),
      resetMicros: used > 0 ? counts.newestEndMicros + windowMicros - nowMicros : 0,
      atMicros: (Math.floor(latestMicros / widthMicros) + 1) * widthMicros,
    };
  }

  record(state: BucketedWindowState, nowMicros: number, cost: number): Verdict {
    const { counts } = state;
    const latestMicros = Math.max(nowMicros, counts.newestStartMicros);
    counts.drop(latestMicros - this.windowMicros);
    counts.resize(counts.widthFor(this.widthMicros, this.windowMicros), latestMicros);
    counts.add(latestMicros, cost);
    state.windowMicros = this.windowMicros;
    state.minDifference = nextMinDifference(state.minDifference, this.minDifferenceMicros, nowMicros);
    return this.test(state, nowMicros, cost);
  }

  refund({ counts }: BucketedWindowState, _nowMicros: number, { atMicros, cost }: Hit): void {
    counts.take(atMicros, cost);
  }
}
