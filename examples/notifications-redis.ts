// Four processes send push notifications at the same time and share one Redis. In any 30 minutes, a teacher gets at most
// 20 notifications in total and 6 of one category, from all processes together.   npm run example notifications-redis.ts
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';

const { REDIS_URL = 'redis://127.0.0.1:6379', TEACHER = `teacher ${process.pid}` } = process.env;
const CATEGORIES = ['absences', 'homework', 'doors', 'fire alarm'];
const WORKERS = 4;

if (process.send === undefined) await startWorkers();
else await sendNotifications(process.send.bind(process));

/** Starts the processes and prints the notifications that they sent together. */
async function startWorkers(): Promise<void> {
  const sent = new Map(CATEGORIES.map((category) => [category, '']));
  const workers = Array.from({ length: WORKERS }, () =>
    fork(fileURLToPath(import.meta.url), { env: { ...process.env, TEACHER } }).on('message', (category: string) =>
      sent.set(category, `${sent.get(category)}✓`),
    ),
  );
  const codes = await Promise.all(workers.map(async (worker) => (await once(worker, 'exit'))[0] as number));
  if (codes.some((code) => code !== 0)) {
    console.error(`Is there a Redis on ${REDIS_URL}? Start one with redis-server, or set REDIS_URL.`);
    process.exit(1);
  }
  console.log(`${WORKERS} processes tried 10 notifications of each category at the same time. They sent:\n`);
  for (const [category, marks] of sent) console.log(`  ${category.padEnd(12)} ${marks}`);
  console.log(`\n${[...sent.values()].join('').length} in total. The limits are 6 of one category and 20 in total.`);
}

/** Runs in each process. Reports the category of each allowed notification to the parent process. */
async function sendNotifications(report: (category: string) => void): Promise<void> {
  const redis = new Redis(REDIS_URL);
  redis.on('error', () => {}); // Emitted at every attempt to connect. The first failed check ends the process anyway.
  const limiter = new RateLimiter({
    limits: {
      global: '20/30m',
      category: '6/30m',
    },
    prefix: 'push',
    store: new RedisStore({ client: redis }),
    timeout: '5s', // A late notification is better than one too many.
  });
  try {
    for (let turn = 0; turn < 10; turn++) {
      for (const category of CATEGORIES) {
        const { allowed } = await limiter.check({ global: TEACHER, category: `${TEACHER}: ${category}` });
        if (allowed) report(category);
      }
    }
  } finally {
    redis.disconnect();
    process.disconnect();
  }
}
