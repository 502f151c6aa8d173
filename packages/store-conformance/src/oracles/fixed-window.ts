import { withMinDifference } from './min-difference.js';
import { MS, noDelay, type Oracle, sum } from './oracle.js';

/** Durations in milliseconds. */
export interface FixedWindowNumbers {
  readonly limit: number;
  readonly window: number;
  readonly minDifference?: number | undefined;
}

/** One action. Each is an object of its own, by which a refund finds it. */
interface Hit {
  readonly cost: number;
}

/** The end of the running window, and the actions in it. */
interface Running {
  readonly end: number;
  readonly hits: readonly Hit[];
}

/** The end of the window that holds `at`, windows being cut where the clock is a multiple of their length. */
export const gridEnd = (at: number, window: number): number => (Math.floor(at / window) + 1) * window;

/** Actions of one window of the clock are counted, and forgotten at its end. */
export function fixedWindowOracle({ limit, minDifference, ...numbers }: FixedWindowNumbers): Oracle {
  const window = numbers.window * MS;
  const count = ({ end, hits }: Running, at: number) => (at < end ? sum(hits.map(({ cost }) => cost)) : 0);
  const oracle: Oracle<Running, Hit> = {
    quota: limit,
    empty: { end: -Infinity, hits: [] },
    isImplausible: ({ end }, now) => end - now > 2 * window,
    expires: ({ end, hits }) => (hits.length > 0 ? end : -Infinity),
    allows: (running, at, cost) => count(running, at) + cost <= limit,
    free: (running, at) => limit - count(running, at),
    delay: noDelay,
    record({ end, hits }, now, cost) {
      const hit = { cost };
      return [now < end ? { end, hits: [...hits, hit] } : { end: gridEnd(now, window), hits: [hit] }, hit];
    },
    refund: ({ end, hits }, receipt) => ({ end, hits: hits.filter((hit) => hit !== receipt) }),
  };
  return withMinDifference(oracle, window, minDifference);
}
