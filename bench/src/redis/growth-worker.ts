import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import { Redis } from 'ioredis';
import { handleTasks } from '../worker.js';

/** Evenly spread checks of one key by its own clock, as many in a window as the limit allows. */
export interface GrowthTask {
  readonly limit: number;
  readonly checks: number;
}

const WINDOW_MS = 60_000;
/** Added to each interval, because rounding could make one too short. */
const MICROSECOND_MS = 0.001;

const [url, log] = process.argv.slice(2) as [string, RedisStoreOptions['log']];
const clock = {
  ms: Date.now(),
  now() {
    return this.ms;
  },
};
const store = new RedisStore({ client: new Redis(url), clock, ...(log === undefined ? {} : { log }) });

/** Measures this process's microseconds per check. */
handleTasks(async ({ limit, checks }: GrowthTask): Promise<number> => {
  const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: WINDOW_MS }), store, timeout: '1m' });
  const cpuBefore = process.cpuUsage();
  for (let check = 0; check < checks; check++) {
    clock.ms += WINDOW_MS / limit + MICROSECOND_MS;
    const { allowed } = await limiter.check('key');
    if (!allowed) throw new Error(`Expected one check per ${limit}th of a window to be allowed, got a rejection`);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return (user + system) / checks;
});
