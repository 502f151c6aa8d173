// A process that joins one queue again and again, in bursts, until its parent says that it is enough; then it tells its turns.
// It takes what was built, as an app does.
import { setTimeout as delay } from 'node:timers/promises';
import { leakyBucket, RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';

const { url, prefix, capacity, interval } = JSON.parse(process.argv[2]);
const client = new Redis(url);
const store = new RedisStore({ client });
const limiter = new RateLimiter({ limits: leakyBucket({ capacity, interval }), store, prefix, timeout: '100s' });

/** Milliseconds of this machine's clock before and after each check that was let in, and how long it was to be held. */
const turns = [];
let rejected = 0;

async function join() {
  const startMs = Date.now();
  const { allowed, delayMs } = await limiter.check('all');
  if (allowed) turns.push([startMs, Date.now(), delayMs]);
  else rejected += 1;
}

let isOver = false;
process.on('message', () => {
  isOver = true;
});
process.on('disconnect', () => process.exit()); // The parent has ended, or has enough.

while (!isOver) {
  await Promise.all(Array.from({ length: 1 + Math.floor(Math.random() * 6) }, join));
  await delay(Math.random() * 20);
}
process.send({ turns, rejected });
