// Prints how many functions of Rollgate one warm request to an Express app calls. With the address of a Redis server, the
// limiter uses a RedisStore. With `bucket`, the limit is a token bucket. With `full-bucket`, it is full again at each request, so that
// the state of the key has expired.
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

const [, , subject] = process.argv;
const bucket = { bucket: { refill: 1, every: '1m' }, 'full-bucket': { refill: 1000, every: '1ms' } }[subject];
const redisUrl = bucket === undefined ? subject : undefined;
const client = redisUrl === undefined ? undefined : new Redis(redisUrl);
const store = client === undefined ? new MemoryStore() : new RedisStore({ client });

const app = express();
const limits =
  bucket === undefined
    ? rollingWindow({ limit: 1_000_000, window: '1m' })
    : tokenBucket({ capacity: 1_000_000, ...bucket });
app.use(rateLimit({ limits, store }));
app.get('/', (_request, response) => response.end());
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
async function request() {
  const [response] = await once(get({ port: server.address().port, agent }), 'response');
  await once(response.resume(), 'end');
}

for (let i = 0; i < WARM_UP_REQUESTS; i++) await request();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

async function countCalled() {
  await session.post('Profiler.takePreciseCoverage'); // Starts to count.
  await request();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => /\/packages\/\w+\/dist\//.test(url))
    .flatMap(({ functions }) => functions)
    .filter(({ ranges }) => ranges[0].count > 0).length;
}

const counts = [];
for (let i = 0; i < COUNTED_REQUESTS; i++) counts.push(await countCalled());
console.log(Math.min(...counts));

server.close();
agent.destroy();
client?.disconnect();
