// Checks keys in bursts from the message "start" of the parent process until "stop", whose reply is what it has seen.
// Imports the built packages, as an app does.
import { setTimeout as delay } from 'node:timers/promises';
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';

const { url, kind, name, log, denialCache, tasks } = JSON.parse(process.argv[2]);

/** Loads only the client that it uses, because loading takes most of the time of a short process. */
async function connect() {
  if (kind === 'ioredis') {
    const { Redis } = await import('ioredis');
    const client = new Redis(url, { connectionName: name, retryStrategy: () => 5 });
    client.on('error', () => {}); // The test kills connections. The commands report it.
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
  const entries = Object.entries(limits).map(([name, settings]) => [name, rollingWindow(settings)]);
  const record = rollingWindow({ limit: 1e6, window: '1h' });
  return new RateLimiter({ limits: { ...Object.fromEntries(entries), record }, store, prefix, timeout: '100s' });
});

/** How often each key was allowed, and when a check was rejected, in milliseconds by the clock of this machine. */
const allowed = tasks.map(({ keys }) => keys.map(() => 0));
const rejections = [];
let failed = 0;

async function checkOnce() {
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
async function hammer() {
  while (!isOver) {
    await Promise.all(Array.from({ length: 1 + random(8) }, checkOnce));
    await delay(random(12));
  }
}

let hammering;
const replies = {
  start() {
    hammering = hammer();
    return 'started';
  },
  rejected: () => rejections.length,
  async stop() {
    isOver = true;
    await hammering;
    return { allowed, rejections, failed };
  },
};
process.on('message', async (message) => process.send(await replies[message]()));
process.on('disconnect', () => process.exit()); // The parent has ended or needs no more.
