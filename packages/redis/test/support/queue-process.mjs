// Joins one queue in bursts until the parent process sends a message, then sends its starts.
// Imports the built packages, as an app does.
import { setTimeout as delay } from 'node:timers/promises';
import { leakyBucket, RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';

const { url, prefix, capacity, interval } = JSON.parse(process.argv[2]);
const client = new Redis(url);
const store = new RedisStore({ client });
const limiter = new RateLimiter({ limits: leakyBucket({ capacity, interval }), store, prefix, timeout: '100s' });

/** The time before and after each allowed check, by this machine's clock, and its delay, in milliseconds. */
const starts = [];
let rejected = 0;

async function enqueue() {
  const startMs = Date.now();
  const { allowed, delayMs } = await limiter.check('all');
  if (allowed) starts.push([startMs, Date.now(), delayMs]);
  else rejected += 1;
}

let isOver = false;
process.on('message', () => {
  isOver = true;
});
process.on('disconnect', () => process.exit()); // The parent has ended or needs no more.

while (!isOver) {
  await Promise.all(Array.from({ length: 1 + Math.floor(Math.random() * 6) }, enqueue));
  await delay(Math.random() * 20);
}
process.send({ starts, rejected });
