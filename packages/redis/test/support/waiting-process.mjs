// Waits for calls of one key, and sends a message for each start. Bundled with the sources of the store, whose classes it changes.
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { Redis } from 'ioredis';
import { RedisStore } from '../../src/index.ts';
import { fairWaiting } from '../../src/waiting-api.ts';
import { countedSince, now, runCall } from './counted-since.mjs';

const { url, prefix, limit, window, lease } = JSON.parse(process.argv[2]);
const client = new Redis(url);
const subscriber = new Redis(url);
client.on('error', () => {});
subscriber.on('error', () => {});
const store = new RedisStore({ client, waiting: fairWaiting({ subscriber, lease }) });
const limiter = new RateLimiter({
  limits: rollingWindow({ limit, window: `${window}ms` }),
  store,
  prefix,
  timeout: '2s',
  onStoreError: 'deny',
});

async function until(ms) {
  while (ms - now() > 1.5) await new Promise((resolve) => setTimeout(resolve, ms - now() - 1));
  while (now() < ms) await new Promise(setImmediate);
}

/** Waits from a time on, and then refunds or keeps its units, unless it gives up before. Times are milliseconds. */
async function call({ index, calledMs, cost, timeoutMs, refundMs, abortMs }) {
  await until(calledMs);
  process.send({ index, calledMs: now() });
  const signal = abortMs === undefined ? undefined : AbortSignal.timeout(abortMs);
  const timeout = timeoutMs === undefined ? undefined : `${timeoutMs}ms`;
  let decision;
  try {
    decision = await limiter.wait('api', { cost, signal, timeout });
  } catch (error) {
    process.send({ index, endedMs: now(), reason: String(error.code ?? error) });
    return;
  }
  process.send({ index, startedMs: now(), countedMs: countedSince() });
  if (refundMs === undefined) return;
  await until(now() + refundMs);
  process.send({ index, refundedMs: now() });
  await limiter.refund(decision).catch(() => {}); // The server may be down.
}

process.on('message', async ({ calls }) => {
  if (calls === undefined) {
    await limiter.peek('warm'); // The connections work, and the scripts are known.
    await limiter.wait('warm');
    process.send({ isReady: true });
    return;
  }
  await Promise.all(calls.map((one) => runCall(() => call(one))));
  process.send({ isDone: true });
});
process.on('disconnect', () => process.exit()); // The parent has ended or needs no more.
