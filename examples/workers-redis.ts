// Three processes send the mails of one list by an API that limits them.   npm run example workers-redis.ts
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
import { Redis } from 'ioredis';

const { REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
const MAILS = 'mails';

const redis = new Redis(REDIS_URL);
if (process.send === undefined) await startWorkers();
else await work(process.send.bind(process));
redis.disconnect();

async function work(report: (message: string) => void): Promise<void> {
  const subscriber = redis.duplicate();
  const api = new RateLimiter({
    limit: 5,
    window: '1100ms', // The API allows 5 calls in any second.
    prefix: 'mail api',
    store: new RedisStore({ client: redis, waiting: fairWaiting({ subscriber }) }),
    maxWaiting: 100, // More than there are workers.
    timeout: '5s', // A slow Redis only delays mails.
  });
  process.once('SIGTERM', () => api.close()); // Ends the wait. A mail that is on its way is sent.
  await redis.ping();
  report('ready');
  await once(process, 'message'); // All workers begin together.
  try {
    for (;;) {
      const turn = await api.wait('mail', { timeout: '30s' });
      const recipient = await redis.lpop(MAILS); // Taken after the wait, so a process that ends loses no mail.
      if (recipient === null) {
        await api.refund(turn);
        break;
      }
      await sendMail(recipient);
    }
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_ROLLGATE_LIMITER_CLOSED') throw error;
  }
  await api.close();
  subscriber.disconnect();
  if (process.connected) process.disconnect(); // The parent may have ended before.
}

async function sendMail(recipient: string): Promise<void> {
  console.log(`${new Date().toISOString()}  process ${process.pid}  ${recipient}`);
}

async function startWorkers(): Promise<void> {
  await redis.del(MAILS);
  await redis.rpush(MAILS, ...Array.from({ length: 12 }, (_, index) => `customer ${index + 1}`));
  const workers = Array.from({ length: 3 }, () => fork(fileURLToPath(import.meta.url)));
  const ended = workers.map((worker) => once(worker, 'exit'));
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  for (const worker of workers) worker.send('begin');
  await Promise.all(ended);
}
