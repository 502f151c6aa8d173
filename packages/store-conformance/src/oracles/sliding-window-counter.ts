import { isTooFarAhead, scaleOf } from './clock-skew-bound.js';
import { windowEndAfter } from './fixed-window.js';
import { withMinDifference } from './min-difference.js';
import { MS, noDelay, type Oracle } from './oracle.js';

/** Durations in milliseconds. */
export interface SlidingWindowCounterSettings {
  readonly limit: number;
  readonly window: number;
  readonly minDifference?: number | undefined;
}

/** The units of the window that ends at `end`, and of the one before. `window` is that of the limit that recorded last. */
interface Counts {
  readonly end: number;
  readonly window: number;
  readonly current: number;
  readonly previous: number;
  /** The scale of the largest limit that recorded in the current window. */
  readonly scale: number;
}

/** An estimate: the previous window counts by its part that a rolling window would still contain. */
export function slidingWindowCounterOracle(settings: SlidingWindowCounterSettings): Oracle {
  const { limit, minDifference } = settings;
  const window = settings.window * MS;
  const ownScale = scaleOf(window);

  /** The estimate times `window`, which is a whole number. */
  function estimate({ end, current, previous }: Counts, at: number): bigint {
    if (at < end) return BigInt(current) * BigInt(window) + BigInt(previous) * BigInt(Math.min(window, end - at));
    return at < end + window ? BigInt(current) * BigInt(end + window - at) : 0n;
  }
  /** The estimate, rounded up. */
  const used = (counts: Counts, at: number) => Number((estimate(counts, at) + BigInt(window - 1)) / BigInt(window));

  const oracle: Oracle<Counts, { end: number; cost: number }> = {
    quota: limit,
    empty: { end: -Infinity, window, current: 0, previous: 0, scale: 0 },
    isImplausible: ({ end, scale }, now) => isTooFarAhead(end, now, scale),
    expires: ({ end, current, previous }) => (current > 0 ? end + window : previous > 0 ? end : -Infinity),
    allows: (counts, at, cost) => estimate(counts, at) <= BigInt(limit - cost) * BigInt(window),
    free: (counts, at) => limit - used(counts, at),
    delay: noDelay,
    record({ end, current, previous, scale }, now, cost) {
      if (now < end) {
        const counts = { end, window, current: current + cost, previous, scale: Math.max(scale, ownScale) };
        return [counts, { end, cost }];
      }
      const next = now < end + window ? end + window : windowEndAfter(now, window);
      const before = now < end + window ? current : 0;
      return [
        { end: next, window, current: cost, previous: before, scale: ownScale },
        { end: next, cost },
      ];
    },
    refund(counts, receipt, _, kept) {
      if (counts.window !== window) return counts;
      const { end, current, previous } = counts;
      const units = receipt.cost - kept;
      if (end === receipt.end) return { ...counts, current: Math.max(0, current - units) };
      if (end === receipt.end + window) return { ...counts, previous: Math.max(0, previous - units) };
      return counts;
    },
  };
  return withMinDifference(oracle, window, minDifference);
}
