// Prints how many functions of Rollgate one warm request to an Express app calls, by what limits it. The argument is the address of a
// Redis server, for a RedisStore.
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { Session } from 'node:inspector/promises';
import { MemoryStore, rateLimit, rollingWindow, tokenBucket } from '@rollgate/express';
import { RedisStore } from '@rollgate/redis';
import express from 'express';
import { Redis } from 'ioredis';

/** Option functions, warnings and reports end with a limiter's first requests. */
const WARM_UP_REQUESTS = 300;
/** A timer may run during a request, so the request with the fewest functions counts. */
const COUNTED_REQUESTS = 10;

const window = rollingWindow({ limit: 1_000_000, window: '1m' });
const bucket = (refill) => tokenBucket({ capacity: 1_000_000, ...refill });
const client = new Redis(process.argv[2]);
const subjects = {
  rollingWindow: () => ({ limits: window, store: new MemoryStore() }),
  tokenBucket: () => ({ limits: bucket({ refill: 1, every: '1m' }), store: new MemoryStore() }),
  // It is full again at each request, so that the state of the key has expired.
  fullBucket: () => ({ limits: bucket({ refill: 1000, every: '1ms' }), store: new MemoryStore() }),
  rejected: () => ({ limit: 1, window: '1h', store: new MemoryStore() }),
  redis: () => ({ limits: window, store: new RedisStore({ client }) }),
};

const session = new Session();
session.connect();
await session.post('Profiler.enable');

async function count(options) {
  const app = express();
  app.use(rateLimit(options));
  app.get('/', (_request, response) => response.end());
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const request = async () => {
    const [response] = await once(get({ port: server.address().port, agent }), 'response');
    await once(response.resume(), 'end');
  };
  for (let i = 0; i < WARM_UP_REQUESTS; i++) await request();
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const counts = [];
  for (let i = 0; i < COUNTED_REQUESTS; i++) {
    await session.post('Profiler.takePreciseCoverage'); // Starts to count.
    await request();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const functions = result
      .filter(({ url }) => /\/packages\/\w+\/dist\//.test(url))
      .flatMap((script) => script.functions);
    counts.push(functions.filter(({ ranges }) => ranges[0].count > 0).length);
  }
  await session.post('Profiler.stopPreciseCoverage');
  server.close();
  agent.destroy();
  options.store.close?.();
  return Math.min(...counts);
}

const found = {};
for (const [name, create] of Object.entries(subjects)) found[name] = await count(create());
console.log(JSON.stringify(found));
client.disconnect();
