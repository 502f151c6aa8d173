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
  readonly longest: number;
}

/** A log of all units. A moment before the newest one is taken for it. */
export function rollingWindowOracle(numbers: RollingWindowSettings): Oracle {
  const { limit, countRejected = false } = numbers;
  const window = numbers.window * MS;
  const minDifference = (numbers.minDifference ?? 0) * MS;
  const keep = (longest: number) => Math.max(window, minDifference, longest);
  const newest = (times: Times) => Math.max(...times);
  const later = (times: Times, at: number) => Math.max(at, ...times);
  const live = (times: Times, at: number) => times.filter((time) => time > later(times, at) - window).length;
  const oracle: Oracle<State, { at: number; cost: number }> = {
    quota: limit,
    countRejected,
    empty: { times: [], longest: 0 },
    isImplausible: ({ times }, now) => newest(times) - now > window,
    expires: ({ times, longest }) => newest(times) + keep(longest),
    allows: (state, at, cost) =>
      oracle.allowsUnits!(state, at, cost) && later(state.times, at) - newest(state.times) >= minDifference,
    allowsUnits: ({ times }, at, cost) => live(times, at) + cost <= limit,
    free: ({ times }, at) => limit - live(times, at),
    delay: noDelay,
    record({ times, longest: before }, now, cost) {
      const at = later(times, now);
      const longest = Math.max(before, minDifference);
      const kept = [...times.filter((time) => time > at - keep(longest)), ...new Array<number>(cost).fill(at)];
      return [
        { times: countRejected ? kept.slice(-limit) : kept, longest },
        { at, cost },
      ];
    },
    refund({ times, longest }, { at, cost }, _, kept) {
      const left = [...times];
      for (let unit = kept; unit < cost && left.includes(at); unit++) left.splice(left.indexOf(at), 1);
      return { times: left, longest: left.length === 0 ? 0 : longest };
    },
  };
  return oracle;
}
