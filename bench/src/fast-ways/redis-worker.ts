import { createRequire } from 'node:module';
import { type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';
import { type CheckTask, runChecks } from '../redis/check-loop.js';
import { handleTasks } from '../worker.js';
import type { Way } from './ways.js';

const [way, url] = process.argv.slice(2) as [Way, string];
if (way === 'general') sendWholeBatches();

const limits = rollingWindow({ limit: 100, window: '10m' });
const limiter = new RateLimiter({ limits, store: new RedisStore({ client: new Redis(url) }), timeout: '1m' });
const subject = {
  check: (key: string) => limiter.check(key),
  isRejection: (decision: unknown) => !(decision as Decision).allowed,
};

handleTasks((task: CheckTask) => runChecks(subject, task));

/** Changes the compiled module, because the store has no option for it. */
function sendWholeBatches(): void {
  const { Lockstep }: typeof import('../../../packages/redis/src/sending/lockstep.js') = createRequire(import.meta.url)(
    '../../../packages/redis/dist/sending/lockstep.js',
  );
  Lockstep.prototype.detect = () => false;
}
