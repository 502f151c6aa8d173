// The jobs of two processes call an API that limits them, in one order.
// npm run example bullmq.ts
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
// `Queue` and `QueueEvents` are for the code that adds jobs.
import {
  DelayedError,
  type Job,
  Queue,
  QueueEvents,
  WaitingError,
  Worker,
} from 'bullmq';
import { Redis } from 'ioredis';

const { REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
const connection = { url: REDIS_URL };

interface Mail {
  readonly recipient: string;
}

const redis = new Redis(REDIS_URL);
const subscriber = redis.duplicate();
// ioredis reports each failed attempt to connect. Rollgate warns about
// an outage once.
for (const client of [redis, subscriber]) client.on('error', () => {});
const api = new RateLimiter({
  limit: 5,
  window: '1100ms', // The API allows 5 calls in any second.
  prefix: 'mail api',
  store: new RedisStore({
    client: redis,
    waiting: fairWaiting({ subscriber }),
  }),
  // More than the jobs that all workers together run at once.
  maxWaiting: 100,
  timeout: '5s', // How long Redis may take to decide.
});

const worker = new Worker<Mail>(
  'mails',
  async (job: Job<Mail>, token?: string, signal?: AbortSignal) => {
    try {
      await api.wait('mail', { timeout: '30s', signal });
    } catch {
      // The job has not called the API yet, so put it back without
      // using an attempt.
      if (signal?.aborted) {
        await job.moveToWait(token);
        throw new WaitingError();
      }
      await job.moveToDelayed(Date.now() + 1000, token);
      throw new DelayedError();
    }
    await sendMail(job); // Your own work.
  },
  { connection, concurrency: 2 },
);

// Reports a lost connection, for example. The worker reconnects by
// itself.
worker.on('error', (error) => console.error(error.message));
// Another worker may take these jobs, so end their waits.
worker.on('lockRenewalFailed', (ids) => {
  for (const id of ids) worker.cancelJob(id);
});

async function shutDown(): Promise<void> {
  const closing = worker.close(); // Takes no more jobs.
  // Ends the waits. Jobs that already call the API finish.
  worker.cancelAllJobs();
  await closing;
  await api.close();
  redis.disconnect();
  subscriber.disconnect();
}
process.once('SIGTERM', shutDown);

async function sendMail({ data }: Job<Mail>): Promise<void> {
  console.log(
    `${new Date().toISOString()}  process ${process.pid}  ${data.recipient}`,
  );
}

/**
 * Starts the second process, gives both of them mails to send, and ends
 * them.
 */
async function run(): Promise<void> {
  const other = fork(fileURLToPath(import.meta.url));
  const ended = once(other, 'exit');
  const queue = new Queue<Mail>('mails', { connection });
  const events = new QueueEvents('mails', { connection });
  await Promise.all([
    once(other, 'message'),
    worker.waitUntilReady(),
    events.waitUntilReady(),
  ]);
  const mails = Array.from({ length: 12 }, (_, index) => ({
    name: 'welcome',
    data: { recipient: `customer ${index + 1}` },
  }));
  for (const job of await queue.addBulk(mails))
    await job.waitUntilFinished(events);
  other.kill();
  await Promise.all([ended, shutDown(), queue.close(), events.close()]);
}

if (process.send === undefined) await run();
else {
  await worker.waitUntilReady();
  process.send('ready');
  process.once(
    'SIGTERM',
    () => process.connected && process.disconnect(),
  ); // The parent may have ended before.
}
