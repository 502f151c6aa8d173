import { isTooFarAhead, scaleOf } from './clock-skew-bound.js';
import { MS, noDelay, type Oracle, sum } from './oracle.js';

/** A limit with a table of periods instead of a calendar. */
export interface CalendarWindowSettings {
  readonly limit: number;
  /** The lengths of the periods in milliseconds. They follow each other from time 0 on, again and again. */
  readonly lengths: readonly number[];
}

/** One action. A refund finds it by object identity. */
interface Hit {
  readonly cost: number;
}

/** The end of the running period, the actions in it, and the scale of the largest limit that recorded them. */
interface Running {
  readonly end: number;
  readonly hits: readonly Hit[];
  readonly scale: number;
}

/** The start and the end of the period that contains `at`, in microseconds. */
export function tabledPeriod(lengths: readonly number[], at: number): readonly [start: number, end: number] {
  const all = sum(lengths) * MS;
  let start = Math.floor(at / all) * all;
  for (const length of lengths) {
    if (at < start + length * MS) return [start, start + length * MS];
    start += length * MS;
  }
  throw new RangeError(`Expected a time, got ${at}`);
}

/** Counts the actions until the period of each of them has ended. */
export function calendarWindowOracle({ limit, lengths }: CalendarWindowSettings): Oracle {
  const ownScale = scaleOf(Math.max(...lengths) * MS);
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
      const [, ownEnd] = tabledPeriod(lengths, now);
      if (now >= end) return [{ end: ownEnd, hits: [hit], scale: ownScale }, hit];
      return [{ end: Math.max(end, ownEnd), hits: [...hits, hit], scale: Math.max(scale, ownScale) }, hit];
    },
    refund(running, receipt, _, kept) {
      const left = kept === 0 ? [] : [{ cost: kept }];
      return { ...running, hits: running.hits.flatMap((hit) => (hit === receipt ? left : [hit])) };
    },
  };
  return oracle as Oracle;
}
