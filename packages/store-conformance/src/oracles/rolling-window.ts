import { MS, noDelay, type Oracle } from './oracle.js';

/** Durations in milliseconds. */
export interface RollingWindowSettings {
  readonly limit: number;
  readonly window: number;
  readonly minDifference?: number | undefined;
  readonly countRejected?: boolean | undefined;
}

type Times = readonly number[];

interface State {
  /** The time of each unit, oldest first. */
  readonly times: Times;
  /** The longest minimal difference of all limits that have recorded. */
  readonly longestDifference: number;
}

/** A log of all units. A time before the newest one counts as its time. */
export function rollingWindowOracle(settings: RollingWindowSettings): Oracle {
  const { limit, countRejected = false } = settings;
  const window = settings.window * MS;
  const minDifference = (settings.minDifference ?? 0) * MS;
  const keptFor = (longestDifference: number) => Math.max(window, minDifference, longestDifference);
  const newest = (times: Times) => Math.max(...times);
  const clampToNewest = (times: Times, at: number) => Math.max(at, ...times);
  const liveUnits = (times: Times, at: number) =>
    times.filter((time) => time > clampToNewest(times, at) - window).length;
  const oracle: Oracle<State, { at: number; cost: number }> = {
    quota: limit,
    countRejected,
    empty: { times: [], longestDifference: 0 },
    isImplausible: ({ times }, now) => newest(times) - now > window,
    expires: ({ times, longestDifference }) => newest(times) + keptFor(longestDifference),
    allows: (state, at, cost) =>
      oracle.allowsUnits!(state, at, cost) && clampToNewest(state.times, at) - newest(state.times) >= minDifference,
    allowsUnits: ({ times }, at, cost) => liveUnits(times, at) + cost <= limit,
    free: ({ times }, at) => limit - liveUnits(times, at),
    delay: noDelay,
    record({ times, longestDifference: before }, now, cost) {
      const at = clampToNewest(times, now);
      const longestDifference = Math.max(before, minDifference);
      const kept = [
        ...times.filter((time) => time > at - keptFor(longestDifference)),
        ...new Array<number>(cost).fill(at),
      ];
      return [
        { times: countRejected ? kept.slice(-limit) : kept, longestDifference },
        { at, cost },
      ];
    },
    refund({ times, longestDifference }, { at, cost }, _, kept) {
      const left = [...times];
      for (let unit = kept; unit < cost && left.includes(at); unit++) left.splice(left.indexOf(at), 1);
      return { times: left, longestDifference: left.length === 0 ? 0 : longestDifference };
    },
  };
  return oracle;
}
