import type { Duration } from '../validation/duration.js';
import { validateIntegerBetween } from '../validation/validate.js';
import {
  addUnits,
  areCountsIntact,
  COUNTS_SIZE,
  createCounts,
  describeCounts,
  dropUntil,
  endOfUnit,
  MAX_BUCKETS,
  newestEnd,
  newestStart,
  setWidth,
  takeUnits,
  unitsAfter,
  widthFor,
} from './bucket-counts.js';
import { type Hit, type Limit, type Mode, records, type State, type Verdict } from './limit.js';
import {
  createMinDifference,
  describeMinDifference,
  expiresAfter,
  isMinDifferencePlausible,
  judgeDifference,
  MIN_DIFFERENCE_SIZE,
  recordMinDifference,
} from './min-difference.js';
import { parseWindow, SHARED_OPTIONS, type SharedOptions, WindowLimit } from './window-limit.js';

/** The options of {@link bucketedWindow}. */
export interface BucketedWindowOptions extends SharedOptions {
  /**
   * The most units in any window: a positive safe integer, 0 to reject everything, or `Infinity` to limit nothing.
   */
  limit: number;
  /** The window's length, in milliseconds or as text such as `'1m'`. */
  window: Duration;
  /**
   * The number of buckets in a window, from 1 to 3,600.
   *
   * @defaultValue 60
   */
  buckets?: number | undefined;
}

/** The number of the state that holds the window of the limit that recorded last. The counts follow it. */
const WINDOW = MIN_DIFFERENCE_SIZE;

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
export class BucketedWindow extends WindowLimit<'bucketed-window'> implements Limit {
  /** The length of a bucket. Rounded up, so that the window never overlaps more than `buckets` and a part of one. */
  readonly widthMicros: number;
  readonly stateSize = COUNTS_SIZE;

  constructor(options: BucketedWindowOptions) {
    const window = parseWindow('bucketedWindow', options, ['limit', 'window', 'buckets', ...SHARED_OPTIONS]);
    const buckets = validateIntegerBetween('buckets', options.buckets ?? 60, 1, MAX_BUCKETS);
    const widthMicros = Math.ceil(window.windowMicros / buckets);
    super('bucketed-window', window, options, window.windowMicros + widthMicros);
    this.widthMicros = widthMicros;
    Object.freeze(this);
  }

  create(state: State): void {
    createCounts(state);
    createMinDifference(state);
  }

  expiresMicros(state: State): number {
    return expiresAfter(newestEnd(state) + state.numbers[state.start + WINDOW]!, state);
  }

  isPlausible(state: State, nowMicros: number): boolean {
    const keepMicros = Math.max(this.windowMicros, this.minDifferenceMicros);
    return (
      newestStart(state) - nowMicros <= this.windowMicros && isMinDifferencePlausible(state, keepMicros, nowMicros)
    );
  }

  isIntact(state: State): boolean {
    return areCountsIntact(state);
  }

  describe(state: State): unknown {
    const windowMicros = state.numbers[state.start + WINDOW];
    return { counts: describeCounts(state), windowMicros, minDifference: describeMinDifference(state) };
  }

  apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const { limit, windowMicros, minDifferenceMicros } = this;
    const latestMicros = Math.max(nowMicros, newestStart(state));
    const startMicros = latestMicros - windowMicros;
    const waitForUnit = (units: number) => endOfUnit(state, startMicros, units) + windowMicros - nowMicros;
    let used = unitsAfter(state, startMicros);
    const free = limit - used;
    const widthMicros = used > 0 ? widthFor(state, this.widthMicros, windowMicros) : this.widthMicros;
    verdict.waitMicros = cost <= free ? 0 : cost > limit ? Infinity : waitForUnit(cost - free);
    verdict.reason = 'limit';
    verdict.delayMicros = 0;
    verdict.atMicros = (Math.floor(latestMicros / widthMicros) + 1) * widthMicros;
    judgeDifference(state, minDifferenceMicros, nowMicros, verdict);
    if (records(mode, verdict.waitMicros)) {
      dropUntil(state, startMicros);
      setWidth(state, widthFor(state, this.widthMicros, windowMicros), latestMicros);
      addUnits(state, latestMicros, cost);
      state.numbers[state.start + WINDOW] = windowMicros;
      recordMinDifference(state, minDifferenceMicros, nowMicros);
      used = unitsAfter(state, startMicros);
    }
    const endMicros = newestEnd(state);
    verdict.remaining = Math.max(0, limit - used);
    verdict.resetMicros = used > 0 ? endMicros + windowMicros - nowMicros : 0;
    verdict.nextUnitMicros = used > 0 ? waitForUnit(Math.max(1, 1 + used - limit)) : 0;
    verdict.expiresMicros = expiresAfter(endMicros + state.numbers[state.start + WINDOW]!, state);
  }

  refund(state: State, _nowMicros: number, { atMicros, cost }: Hit, kept: number): void {
    takeUnits(state, atMicros, cost - kept);
  }
}
