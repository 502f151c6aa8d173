// A BullMQ worker that limits the jobs of each tenant, over all
// workers.   npm run example bullmq-tenants.ts
import { RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

const { REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
const connection = { url: REDIS_URL };

interface Report {
  readonly tenant: string;
}

const redis = new Redis(REDIS_URL);
// ioredis reports each failed attempt to connect. Rollgate warns about
// an outage once.
redis.on('error', () => {});
const limiter = new RateLimiter({
  limit: 2,
  window: '3s',
  prefix: 'reports',
  store: new RedisStore({ client: redis }),
});

const queue = new Queue<Report>('reports', { connection });
const worker = new Worker<Report>(
  'reports',
  async (job: Job<Report>, token?: string) => {
    const { allowed, retryAfterMs } = await limiter.check(
      job.data.tenant,
    );
    if (!allowed) {
      // Back into the queue until the tenant's limit has room.
      await job.moveToDelayed(
        Date.now() + Math.ceil(retryAfterMs),
        token,
      );
      throw new DelayedError();
    }
    await createReport(job); // Your own work.
  },
  { connection, concurrency: 5 },
);
// Reports a lost connection, for example. The worker reconnects by
// itself.
worker.on('error', (error) => console.error(error.message));

const started = Date.now();
async function createReport({
  name,
  data,
}: Job<Report>): Promise<void> {
  console.log(
    `${String(Date.now() - started).padStart(5)} ms  ${data.tenant}  ${name}`,
  );
}

await queue.addBulk(
  ['ann', 'ann', 'ann', 'bob'].map((tenant, index) => ({
    name: `report ${index + 1}`,
    data: { tenant },
  })),
);

let left = 4;
worker.on('completed', async () => {
  left -= 1;
  if (left > 0) return;
  await worker.close();
  await queue.close();
  redis.disconnect();
});
