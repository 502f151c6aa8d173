// Decides the lines of a log that the parent process sends in batches, each at the time that it states.
// Imports the built packages, as an app does.
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';

const { url, log, denialCache, task } = JSON.parse(process.argv[2]);

let now = 0;
const client = new Redis(url);
const store = new RedisStore({ client, log, denialCache, clock: { now: () => now } });
const entries = Object.entries(task.limits).map(([name, settings]) => [name, rollingWindow(settings)]);
const limiter = new RateLimiter({ limits: Object.fromEntries(entries), store, prefix: task.prefix, timeout: '100s' });

process.on('message', async (lines) => {
  const decisions = await Promise.all(
    lines.map(({ atMs, key }) => {
      now = atMs;
      return limiter.check(key);
    }),
  );
  process.send(decisions.map(({ violated }) => violated));
});
process.on('disconnect', () => process.exit()); // The parent needs no more or has ended.
