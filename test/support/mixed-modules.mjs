// Runs one adapter with the store of another kind of module, or of another copy of the core, and prints what happened.
import { once } from 'node:events';
import { get } from 'node:http';
import { createRequire } from 'node:module';
import { setImmediate as flushPromises } from 'node:timers/promises';

const require = createRequire(import.meta.url);
const [, , copiedCore] = process.argv;

const adapters = { import: await import('@rollgate/express'), require: require('@rollgate/express') };
const cores = {
  import: await import('@rollgate/core'),
  require: require('@rollgate/core'),
  copy: await import(copiedCore),
};

async function listen(middleware, handler = (_request, response) => response.end()) {
  const app = require('express')();
  app.use(middleware, handler);
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `http://127.0.0.1:${server.address().port}` };
}

/** Returns the statuses of requests that are refunded when they succeed. */
async function refunded({ rateLimit }, { MemoryStore }) {
  const options = { limit: 1, window: '1m', skipSuccessfulRequests: true, store: new MemoryStore() };
  const { server, url } = await listen(rateLimit(options));
  const statuses = [];
  for (let i = 0; i < 4; i++) statuses.push((await fetch(url, { headers: { connection: 'close' } })).status);
  server.close();
  return statuses;
}

/** Returns the free units of a queue after its waiting HTTP client has disconnected. */
async function freedByClient({ rateLimit }, { leakyBucket, MemoryStore, RateLimiter }) {
  const limits = leakyBucket({ capacity: 1, interval: '1h' });
  const store = new MemoryStore();
  const freed = new Promise((resolve) => {
    const { refund } = MemoryStore.prototype;
    store.refund = (receipt) => resolve(refund.call(store, receipt));
  });
  const { server, url } = await listen(rateLimit({ limits, store, key: () => 'ann' }));
  await (await fetch(url, { headers: { connection: 'close' } })).text();
  const held = get(url).on('error', () => {});
  while ((await new RateLimiter({ limits, store }).peek('ann')).remaining > 0) await flushPromises();
  held.destroy();
  await freed;
  server.closeAllConnections();
  server.close();
  return (await new RateLimiter({ limits, store }).peek('ann')).remaining;
}

/** The same for a caller of `wait`. */
async function freedByWait({ RateLimiter, leakyBucket }, { MemoryStore }) {
  const limiter = new RateLimiter({
    limits: leakyBucket({ capacity: 1, interval: '1h' }),
    store: new MemoryStore(),
  });
  await limiter.check('ann');
  const caller = new AbortController();
  const waiting = limiter.wait('ann', { signal: caller.signal });
  while ((await limiter.peek('ann')).remaining > 0) await flushPromises();
  caller.abort(new Error('left'));
  const reason = await waiting.catch(({ message }) => message);
  await flushPromises();
  return [reason, (await limiter.peek('ann')).remaining];
}

async function refundedTwice({ RateLimiter, rollingWindow }, { MemoryStore }) {
  const limiter = new RateLimiter({ limits: rollingWindow({ limit: 2, window: '1m' }), store: new MemoryStore() });
  await limiter.check('ann');
  const decision = await limiter.check('ann');
  await limiter.refund(decision);
  await limiter.refund(decision);
  return (await limiter.peek('ann')).remaining;
}

const results = {};
for (const [adapterKind, adapter] of Object.entries(adapters)) {
  for (const [storeKind, core] of Object.entries(cores)) {
    const name = `${adapterKind} with the store of ${storeKind}`;
    results[name] = {
      refunded: await refunded(adapter, core),
      freedByClient: await freedByClient(adapter, core),
      freedByWait: await freedByWait(cores[adapterKind], core),
      refundedTwice: await refundedTwice(cores[adapterKind], core),
      isStoreError: new core.StoreError('x') instanceof cores[adapterKind].StoreError,
    };
  }
}
console.log(JSON.stringify(results));
