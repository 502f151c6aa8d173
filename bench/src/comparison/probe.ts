import type { Cell } from '../table.js';
import { FakeTime } from './fake-time.js';
import type { Library, Limiter, Rule } from './library.js';
import { PrivateRedis } from './private-redis.js';

/** One column of the comparison: a function from a library to its cell. */
export interface Probe {
  /** The header of its column. */
  readonly title: string;
  /** What it does, in one or two sentences for the page. */
  readonly method: string;
  /** Runs in its own process. Returns nothing if the library has not got what the probe needs. */
  run(library: Library): Promise<Cell | undefined>;
}

export interface TimedLimiter {
  readonly limiter: Limiter;
  readonly time: FakeTime;
}

/**
 * Creates a limiter that takes the time from the probe. It is in memory. A library without memory qualifies if its own clock
 * decides in Redis, too.
 */
export async function createTimed(library: Library, rule: Rule): Promise<TimedLimiter | undefined> {
  if (library.inMemory !== undefined) {
    const time = FakeTime.start();
    return { time, limiter: await library.inMemory(rule) };
  }
  if (!library.hasClientClock || library.inRedis === undefined) return undefined;
  const redis = await PrivateRedis.start();
  const time = FakeTime.startWithoutTimers();
  return { time, limiter: await library.inRedis(rule, redis) };
}

/** Checks one key so many times, one after the other. Returns how many checks were allowed. */
export async function countAllowed(limiter: Limiter, key: string, checks: number): Promise<number> {
  let allowed = 0;
  for (let check = 0; check < checks; check++) if ((await limiter.check(key)).allowed) allowed += 1;
  return allowed;
}
