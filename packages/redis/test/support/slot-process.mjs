// Takes and releases slots with a `RateLimiter` until it is killed. Appends to a log file when each slot is in use:
// "start" after its check, and "end" before its release or when its lease is lost. "alive" shows that the process runs.
import { openSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { concurrency, RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { Redis } from 'ioredis';

const { url, name, file, limit, leaseMs, callers, useMs } = JSON.parse(process.argv[2]);
const TICK_MS = 10;

/** Microseconds of the system's monotonic clock, which all processes of a machine share. */
const now = () => Math.round(Number(process.hrtime.bigint()) / 1000);
const descriptor = openSync(file, 'a');
const log = (event, micros, slot = '') => writeSync(descriptor, `${event} ${micros} ${slot}\n`);

/** The times of the last two ticks. A process that was paused counts as running again from its second tick on. */
let [aliveMicros, tickMicros] = [now(), now()];
let ticks = 0;
setInterval(() => {
  [aliveMicros, tickMicros] = [tickMicros, now()];
  if (ticks++ % 5 === 0) log('alive', aliveMicros);
}, TICK_MS);

/** The slots by their decisions. */
const slots = new Map();

/** Ends the use of a slot, unless it has ended already. */
function end(decision, micros) {
  if (slots.has(decision)) log('end', micros, slots.get(decision));
  slots.delete(decision);
}

const client = new Redis(url, { retryStrategy: () => 5, maxRetriesPerRequest: null });
client.on('error', () => {}); // The test kills connections.
process.on('warning', () => {});
const limiter = new RateLimiter({
  limits: concurrency({ limit, lease: leaseMs }),
  store: new RedisStore({ client }),
  timeout: '2s',
  onLeaseLost: ({ decision }) => end(decision, aliveMicros),
});

async function useSlot(slot) {
  const decision = await limiter.check('all');
  if (!decision.allowed) return delay(10 + Math.random() * 40);
  slots.set(decision, slot);
  log('start', now(), slot);
  const isLong = Math.random() < 0.05; // Longer than a lease, so it takes renewals.
  await delay(isLong ? leaseMs * (1 + Math.random()) : Math.random() * useMs);
  const endMicros = now();
  const released = limiter.release(decision); // Reports a lease that has ended. Nothing is sent before `end` has run.
  end(decision, endMicros);
  await released;
}

process.on('disconnect', () => process.exit());
let count = 0;
for (let caller = 0; caller < callers; caller++) {
  (async () => {
    for (;;) await useSlot(`${name}.${count++}`).catch(() => delay(20));
  })();
}
