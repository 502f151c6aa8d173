import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';
import { answer } from '../worker.js';

/** Checks of one key under a clock of its own, at even distances, as many in a window as the limit allows. */
export interface GrowthQuestion {
  readonly limit: number;
  readonly checks: number;
}

const WINDOW_MS = 60_000;
/** What is added to each distance, lest the rounding of sums makes one too small. */
const MICROSECOND_MS = 0.001;

const [log, url] = process.argv.slice(2) as ['list' | 'sorted-set', string];
const clock = {
  ms: Date.now(),
  now() {
    return this.ms;
  },
};
const store = new RedisStore({ client: new Redis(url), log, clock });

/** Microseconds of this process for each check. */
answer(async ({ limit, checks }: GrowthQuestion): Promise<number> => {
  const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: WINDOW_MS }), store });
  const cpuBefore = process.cpuUsage();
  for (let check = 0; check < checks; check++) {
    clock.ms += WINDOW_MS / limit + MICROSECOND_MS;
    const { allowed } = await limiter.check('key');
    if (!allowed) throw new Error(`Refused at a distance of a window's ${limit}th part`);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return (user + system) / checks;
});
