// Checks keys in bursts until the parent process sends "stop", then sends its results.
// It takes what was built, as an app does.
import { setTimeout as delay } from 'node:timers/promises';
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';

const { url, kind, name, log, denialCache, tasks } = JSON.parse(process.argv[2]);

/** Loads only the client that it uses, because most of a short life goes into loading. */
async function connect() {
  if (kind === 'ioredis') {
    const { Redis } = await import('ioredis');
    const client = new Redis(url, { connectionName: name, retryStrategy: () => 5 });
    client.on('error', () => {}); // Connections are killed; the commands tell.
    return client;
  }
  const { createClient } = await import('redis');
  const client = createClient({ url, name, socket: { reconnectStrategy: () => 5 } });
  client.on('error', () => {});
  return client.connect();
}

const random = (below) => Math.floor(Math.random() * below);
const store = new RedisStore({ client: await connect(), log, denialCache });
const limitersOf = tasks.map(({ prefix, limits }) => {
  const entries = Object.entries(limits).map(([name, numbers]) => [name, rollingWindow(numbers)]);
  return new RateLimiter({ limits: Object.fromEntries(entries), store, prefix, timeout: '100s' });
});

/** How often which key was allowed, and when who was rejected: by the clock of this machine, in milliseconds. */
const allowed = tasks.map(({ keys }) => keys.map(() => 0));
const rejections = [];
let failed = 0;

async function ask() {
  const task = random(tasks.length);
  const key = random(tasks[task].keys.length);
  const startMs = Date.now();
  try {
    const decision = await limitersOf[task].check(tasks[task].keys[key]);
    if (decision.allowed) allowed[task][key] += 1;
    else rejections.push([task, key, startMs, Date.now()]);
  } catch {
    failed += 1;
  }
}

let isOver = false;
process.on('message', () => {
  isOver = true;
});
process.on('disconnect', () => process.exit()); // The parent has ended, or has enough.

while (!isOver) {
  await Promise.all(Array.from({ length: 1 + random(8) }, ask));
  await delay(random(12));
}
process.send({ allowed, rejections, failed });
