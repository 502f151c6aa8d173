import { MS, type Oracle } from './oracle.js';

/** Durations in milliseconds. */
export interface LeakyBucketNumbers {
  readonly capacity: number;
  readonly interval: number;
}

/** The time from which the next action may leave. */
type Free = number;

/** A queue: actions leave in the order of their coming, a unit every `interval`, and `capacity` of them may wait. */
export function leakyBucketOracle({ capacity, interval }: LeakyBucketNumbers): Oracle {
  const apart = interval * MS;
  const delay = (free: Free, at: number) => Math.max(free, at) - at;
  /** Units that leave later than `at`. */
  function waiting(free: Free, at: number): number {
    let units = 0;
    while (free - (units + 1) * apart > at) units += 1;
    return units;
  }
  const oracle: Oracle<Free, { departure: number; cost: number }> = {
    quota: capacity,
    empty: -Infinity,
    isImplausible: (free, now) => free - now > 2 * (capacity + 1) * apart,
    expires: (free) => free,
    allows: (free, at, cost) => delay(free, at) + (cost - 1) * apart <= capacity * apart,
    free: (free, at) => capacity - waiting(free, at),
    delay,
    record(free, now, cost) {
      const departure = Math.max(free, now);
      return [departure + cost * apart, { departure, cost }];
    },
    refund: (free, { departure, cost }) => (free === departure + cost * apart ? departure : free),
  };
  return oracle;
}
