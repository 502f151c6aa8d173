// Waits for calls of one key, and sends a message for each start. Imports the built packages, as an app does.
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
import { Redis } from 'ioredis';

const { url, prefix, limit, window, isFair = true, lease = '1s', name = 'waiting' } = JSON.parse(process.argv[2]);
const client = new Redis(url, { connectionName: name });
const subscriber = new Redis(url, { connectionName: `${name}-messages` });
client.on('error', () => {});
subscriber.on('error', () => {});
const waiting = isFair ? fairWaiting({ subscriber, lease }) : undefined;
const store = new RedisStore({ client, waiting });
const limiter = new RateLimiter({
  limits: rollingWindow({ limit, window: `${window}ms` }),
  store,
  prefix,
  timeout: '100s',
});

/** The monotonic time that all processes of a machine share, in milliseconds. */
const now = () => Number(process.hrtime.bigint() / 1000n) / 1000;

async function until(ms) {
  while (ms - now() > 1.5) await new Promise((resolve) => setTimeout(resolve, ms - now() - 1));
  while (now() < ms) await new Promise(setImmediate);
}

async function call(index, calledMs, refundMs) {
  await until(calledMs);
  const beforeMs = now();
  const decision = await limiter.wait('api');
  process.send({ index, calledMs: beforeMs, startedMs: now() });
  if (refundMs === undefined) return;
  await until(now() + refundMs);
  process.send({ refundedMs: now() });
  await limiter.refund(decision);
}

process.on('message', async ({ calls }) => {
  if (calls === undefined) {
    await limiter.peek('warm'); // The connections work, and the scripts are known.
    await limiter.wait('warm');
    process.send({ isReady: true });
    return;
  }
  await Promise.all(calls.map(({ index, calledMs, refundMs }) => call(index, calledMs, refundMs)));
  process.send({ isDone: true });
});
process.on('disconnect', () => process.exit()); // The parent has ended or needs no more.
