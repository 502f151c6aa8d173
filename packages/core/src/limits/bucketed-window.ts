import type { Duration } from '../validation/duration.js';
import { validateIntegerBetween } from '../validation/validate.js';
import * as counts from './bucket-counts.js';
import { type Hit, type Limit, type Mode, records, type State, type Verdict } from './limit.js';
import * as difference from './min-difference.js';
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
const WINDOW = difference.SIZE;

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
  readonly stateSize = counts.SIZE_FOR_ONE;

  constructor(options: BucketedWindowOptions) {
    const window = parseWindow('bucketedWindow', options, ['limit', 'window', 'buckets', ...SHARED_OPTIONS]);
    const buckets = validateIntegerBetween('buckets', options.buckets ?? 60, 1, counts.MAX_BUCKETS);
    const widthMicros = Math.ceil(window.windowMicros / buckets);
    super('bucketed-window', window, options, window.windowMicros + widthMicros);
    this.widthMicros = widthMicros;
    Object.freeze(this);
  }

  create(state: State): void {
    counts.create(state);
    difference.create(state);
  }

  expiresMicros(state: State): number {
    return difference.expiresAfter(counts.newestEnd(state) + state.numbers[state.start + WINDOW]!, state);
  }

  isPlausible(state: State, nowMicros: number): boolean {
    const keepMicros = Math.max(this.windowMicros, this.minDifferenceMicros);
    return (
      counts.newestStart(state) - nowMicros <= this.windowMicros && difference.isPlausible(state, keepMicros, nowMicros)
    );
  }

  isIntact(state: State): boolean {
    return counts.areIntact(state);
  }

  describe(state: State): unknown {
    const windowMicros = state.numbers[state.start + WINDOW];
    return { counts: counts.describe(state), windowMicros, minDifference: difference.describe(state) };
  }

  apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const { limit, windowMicros, minDifferenceMicros } = this;
    const latestMicros = Math.max(nowMicros, counts.newestStart(state));
    const startMicros = latestMicros - windowMicros;
    const waitForUnit = (units: number) => counts.endOfUnit(state, startMicros, units) + windowMicros - nowMicros;
    let used = counts.unitsAfter(state, startMicros);
    const free = limit - used;
    const widthMicros = used > 0 ? counts.widthFor(state, this.widthMicros, windowMicros) : this.widthMicros;
    verdict.waitMicros = cost <= free ? 0 : cost > limit ? Infinity : waitForUnit(cost - free);
    verdict.reason = 'limit';
    verdict.delayMicros = 0;
    verdict.atMicros = (Math.floor(latestMicros / widthMicros) + 1) * widthMicros;
    difference.judge(state, minDifferenceMicros, nowMicros, verdict);
    if (records(mode, verdict.waitMicros)) {
      counts.dropUntil(state, startMicros);
      counts.setWidth(state, counts.widthFor(state, this.widthMicros, windowMicros), latestMicros);
      counts.addUnits(state, latestMicros, cost);
      state.numbers[state.start + WINDOW] = windowMicros;
      difference.record(state, minDifferenceMicros, nowMicros);
      used = counts.unitsAfter(state, startMicros);
    }
    const endMicros = counts.newestEnd(state);
    verdict.remaining = Math.max(0, limit - used);
    verdict.resetMicros = used > 0 ? endMicros + windowMicros - nowMicros : 0;
    verdict.nextUnitMicros = used > 0 ? waitForUnit(Math.max(1, 1 + used - limit)) : 0;
    verdict.expiresMicros = difference.expiresAfter(endMicros + state.numbers[state.start + WINDOW]!, state);
  }

  refund(state: State, _nowMicros: number, { atMicros, cost }: Hit, kept: number): void {
    counts.takeUnits(state, atMicros, cost - kept);
  }
}
