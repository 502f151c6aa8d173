import { isTooFarAhead, scaleOf } from './clock-skew-bound.js';
import { withMinDifference } from './min-difference.js';
import { MS, noDelay, type Oracle, sum } from './oracle.js';

/** Durations in milliseconds. */
export interface FixedWindowSettings {
  readonly limit: number;
  readonly window: number;
  readonly minDifference?: number | undefined;
}

/** One action. A refund finds it by object identity. */
interface Hit {
  readonly cost: number;
}

/** The end of the running window, the actions in it, and the scale of the largest limit that recorded them. */
interface Running {
  readonly end: number;
  readonly hits: readonly Hit[];
  readonly scale: number;
}

/** The end of the window that contains `at`. Windows start where the clock is a multiple of their length. */
export const windowEndAfter = (at: number, window: number): number => (Math.floor(at / window) + 1) * window;

/** Counts the actions of one window of the clock, and drops them at its end. */
export function fixedWindowOracle({ limit, minDifference, ...settings }: FixedWindowSettings): Oracle {
  const window = settings.window * MS;
  const ownScale = scaleOf(window);
  const count = ({ end, hits }: Running, at: number) => (at < end ? sum(hits.map(({ cost }) => cost)) : 0);
  const oracle: Oracle<Running, Hit> = {
    quota: limit,
    empty: { end: -Infinity, hits: [], scale: 0 },
    isImplausible: ({ end, scale }, now) => isTooFarAhead(end, now, scale),
    expires: ({ end, hits }) => (hits.length > 0 ? end : -Infinity),
    allows: (running, at, cost) => count(running, at) + cost <= limit,
    free: (running, at) => limit - count(running, at),
    delay: noDelay,
    record({ end, hits, scale }, now, cost) {
      const hit = { cost };
      if (now < end) return [{ end, hits: [...hits, hit], scale: Math.max(scale, ownScale) }, hit];
      return [{ end: windowEndAfter(now, window), hits: [hit], scale: ownScale }, hit];
    },
    refund(running, receipt, _, kept) {
      const left = kept === 0 ? [] : [{ cost: kept }];
      return { ...running, hits: running.hits.flatMap((hit) => (hit === receipt ? left : [hit])) };
    },
  };
  return withMinDifference(oracle, window, minDifference);
}
