// Injects requests into an app of each given Fastify with a queue, aborts a delayed one, and prints the outcome of all. It runs
// the built package in its own process, because Jest cannot load the module with which Fastify injects.
import { leakyBucket, MemoryStore, RateLimiter } from '@rollgate/core';
import rateLimit from '@rollgate/fastify';

const INTERVAL_MS = 50;

async function outcomeIn({ default: fastify }) {
  let now = 0;
  const store = new MemoryStore({ clock: { now: () => now } });
  const limits = leakyBucket({ capacity: 3, interval: INTERVAL_MS });
  const limiter = new RateLimiter({ limits, store });
  const app = fastify();
  await app.register(rateLimit, { limits, store, key: () => 'all' });
  const passed = [];
  let startMs;
  app.get('/:name', async (request) => {
    passed.push([request.params.name, performance.now() - startMs]);
    return 'hello';
  });
  await app.ready();
  startMs = performance.now();
  const replies = await Promise.all([0, 1, 2, 3, 4].map((name) => app.inject(`/${name}`)));

  now += INTERVAL_MS;
  const controller = new AbortController();
  const aborted = app.inject({ url: '/aborted', signal: controller.signal }).then(
    () => 'responded',
    () => 'aborted',
  );
  const before = (await limiter.peek('all')).remaining;
  controller.abort();
  const ended = await aborted;
  const after = (await limiter.peek('all')).remaining;
  return { statuses: replies.map(({ statusCode }) => statusCode), passed, before, ended, after };
}

const outcomes = {};
for (const module of process.argv.slice(2)) outcomes[module] = await outcomeIn(await import(module));
console.log(JSON.stringify(outcomes));
