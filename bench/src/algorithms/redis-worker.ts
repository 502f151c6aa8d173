import { type Decision, RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';
import { type Algorithm, perMinute, WINDOW_MS } from '../limits.js';
import { type CheckTask, runChecks } from '../redis/check-loop.js';
import { handleTasks } from '../worker.js';
import { HITS_PER_WINDOW, LIMIT } from './columns.js';
import { ManualClock } from './manual-clock.js';

export interface LoadTask extends CheckTask {
  /** Whether to inject a clock that spreads each key's hits over its window. Otherwise the server's clock applies. */
  readonly isSpread: boolean;
}

const [algorithm, url] = process.argv.slice(2) as [Algorithm, string];
const client = new Redis(url);
const clock = new ManualClock();
const limiterOnServerClock = limiterOn(new RedisStore({ client }));
const limiterOnTestClock = limiterOn(new RedisStore({ client, clock }));

function limiterOn(store: RedisStore): RateLimiter {
  return new RateLimiter({ limits: perMinute(algorithm, LIMIT), store, timeout: '1m' });
}

handleTasks(({ isSpread, ...task }: LoadTask) => {
  let started = 0;
  return runChecks(
    {
      check(key) {
        if (!isSpread) return limiterOnServerClock.check(key);
        if (started++ % task.keyCount === 0) clock.ms += WINDOW_MS / HITS_PER_WINDOW;
        return limiterOnTestClock.check(key);
      },
      isRejection: (decision) => !(decision as Decision).allowed,
    },
    task,
  );
});
