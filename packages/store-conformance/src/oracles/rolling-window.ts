import { MS, noDelay, type Oracle } from './oracle.js';

/** Durations in milliseconds. */
export interface RollingWindowNumbers {
  readonly limit: number;
  readonly window: number;
  readonly minDifference?: number | undefined;
  readonly countRejected?: boolean | undefined;
}

/** The time of each unit, oldest first. */
type Times = readonly number[];

/** A log of all units. A moment before the newest one is taken for it. */
export function rollingWindowOracle(numbers: RollingWindowNumbers): Oracle {
  const { limit, countRejected = false } = numbers;
  const window = numbers.window * MS;
  const minDifference = (numbers.minDifference ?? 0) * MS;
  const keep = Math.max(window, minDifference);
  const newest = (times: Times) => Math.max(...times);
  const later = (times: Times, at: number) => Math.max(at, ...times);
  const live = (times: Times, at: number) => times.filter((time) => time > later(times, at) - window).length;
  const oracle: Oracle<Times, { at: number; cost: number }> = {
    quota: limit,
    countRejected,
    empty: [],
    isImplausible: (times, now) => newest(times) - now > window,
    expires: (times) => newest(times) + keep,
    allows: (times, at, cost) =>
      oracle.allowsUnits!(times, at, cost) && later(times, at) - newest(times) >= minDifference,
    allowsUnits: (times, at, cost) => live(times, at) + cost <= limit,
    free: (times, at) => limit - live(times, at),
    delay: noDelay,
    record(times, now, cost) {
      const at = later(times, now);
      const kept = [...times.filter((time) => time > at - keep), ...new Array<number>(cost).fill(at)];
      return [countRejected ? kept.slice(-limit) : kept, { at, cost }];
    },
    refund(times, { at, cost }) {
      const left = [...times];
      for (let unit = 0; unit < cost && left.includes(at); unit++) left.splice(left.indexOf(at), 1);
      return left;
    },
  };
  return oracle;
}
