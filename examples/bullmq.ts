// A BullMQ worker that limits the jobs of each tenant, over all workers.   npm run example bullmq.ts
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

const { REDIS_URL = 'redis://127.0.0.1:6379', WINDOW = '3s' } = process.env;
const connection = { url: REDIS_URL };

interface Report {
  readonly tenant: string;
}

const redis = new Redis(REDIS_URL);
const limiter = new RateLimiter({
  limits: rollingWindow({ limit: 2, window: WINDOW }),
  store: new RedisStore({ client: redis }),
});

const started = Date.now();
const worker = new Worker<Report>(
  'reports',
  async (job: Job<Report>, token?: string) => {
    const { tenant } = job.data;
    const { allowed, retryAfterMs } = await limiter.check(tenant);
    if (!allowed) {
      // The worker takes other tenants' jobs until then. This does not count as an attempt of the job.
      await job.moveToDelayed(Date.now() + Math.ceil(retryAfterMs), token);
      throw new DelayedError();
    }
    console.log(`${String(Date.now() - started).padStart(5)} ms  ${tenant}  ${job.name}`);
  },
  { connection, concurrency: 5 },
);

const queue = new Queue<Report>('reports', { connection });
await queue.addBulk(
  ['ann', 'ann', 'ann', 'bob'].map((tenant, index) => ({ name: `report ${index + 1}`, data: { tenant } })),
);

let left = 4;
worker.on('completed', async () => {
  left -= 1;
  if (left > 0) return;
  await worker.close();
  await queue.close();
  redis.disconnect();
});
