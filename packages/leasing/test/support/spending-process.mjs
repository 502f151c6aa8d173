// Checks one key with a `LeasingStore` until it is killed. Appends a line for each allowed check, with the times right before the check
// and when its decision was there. Both are the same for a decision of a lease.
import { openSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { LeasingStore } from '@rollgate/leasing';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';

const { url, file, limit, windowMs, leaseMs, perSecond } = JSON.parse(process.argv[2]);
const descriptor = openSync(file, 'a');

/** Milliseconds of the system's monotonic clock, which all processes of a machine share. */
const now = () => Number(process.hrtime.bigint() / 1000n) / 1000;

const client = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
client.on('error', () => {}); // The test kills the server.
process.on('warning', () => {});
const store = new LeasingStore({ store: new RedisStore({ client }), lease: leaseMs, minDecisions: 1 });
const limits = rollingWindow({ limit, window: `${windowMs}ms` });
const limiter = new RateLimiter({ limits, store, timeout: '500ms' });

/** @type {string[]} */
let lines = [];

async function check() {
  const startMs = now();
  let decided;
  try {
    decided = limiter.decide('hot');
  } catch {
    return; // The store is down.
  }
  const isLeased = decided.then === undefined;
  const decision = isLeased ? decided : await decided.catch(() => undefined);
  if (decision?.allowed) lines.push(`${startMs} ${isLeased ? startMs : now()}`);
}

let lastMs = now();
for (let owed = 0; ; ) {
  const nowMs = now();
  owed = Math.min(owed + ((nowMs - lastMs) * perSecond) / 1000, perSecond / 10);
  lastMs = nowMs;
  for (; owed >= 1; owed--) check();
  await delay(1);
  if (lines.length > 0) writeSync(descriptor, `${lines.join('\n')}\n`);
  lines = [];
}
