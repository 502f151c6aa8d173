// Takes and releases slots until it is killed, and renews them like a limiter. Logs in a Redis stream when each slot may be in use:
// "try" before the check, "got" after it, and "end" before the release or when the slot is lost.
import { setTimeout as delay } from 'node:timers/promises';
import { RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';

const { url, name, limit, lease, callers, holdMs } = JSON.parse(process.argv[2]);

const client = new Redis(url, { retryStrategy: () => 5, maxRetriesPerRequest: null });
client.on('error', () => {}); // The test kills connections.
const log = async (event, slot) => client.xadd('log', '*', 'event', event, 'process', name, 'slot', slot);

const none = () => {};
const micros = {
  leaseMicros: lease * 1000,
  windowMicros: lease * 1000,
  keepMicros: lease * 1000,
  retryAfterMicros: 20_000,
};
const methods = { create: none, test: none, record: none, refund: none };
const limits = { algorithm: 'concurrency', limit, countRejected: false, ...micros, ...methods };
const store = new RedisStore({ client });
const limiter = new RateLimiter({ limits, store, timeout: '100s' });
const receiptOf = (decision) => decision[Symbol.for('@rollgate/core takeReceipt')]();

/** The slots by their receipts. */
const slots = new Map();

async function hold(slot) {
  await log('try', slot);
  const decision = await limiter.check('all');
  if (!decision.allowed) return delay(Math.random() * 20);
  const receipt = receiptOf(decision);
  slots.set(receipt, slot);
  await log('got', slot);
  await delay(Math.random() * holdMs);
  slots.delete(receipt);
  await log('end', slot);
  await store.release(receipt);
}

async function renew() {
  const lost = await store.renew([...slots.keys()]);
  await Promise.all(lost.filter((receipt) => slots.has(receipt)).map((receipt) => log('end', slots.get(receipt))));
}

process.on('disconnect', () => process.exit());
setInterval(() => renew().catch(none), lease / 3);
let count = 0;
for (let caller = 0; caller < callers; caller++) {
  (async () => {
    for (;;) await hold(`${name}.${count++}`).catch(() => delay(20));
  })();
}
