import { MemoryStore, manualClock } from '@rollgate/core';
import { createStore } from '@rollgate/core/store';
import { RollingWindowStore } from '@rollgate/express/express-rate-limit';
import express, { type ErrorRequestHandler } from 'express';
import { type Options, rateLimit } from 'express-rate-limit';
import request from 'supertest';

const WINDOW_MS = 60_000;

/** An app with express-rate-limit and this store, whose time stands still until the test moves it. */
function createApp(options: Partial<Options> = {}, store?: RollingWindowStore) {
  const clock = manualClock();
  const app = express();
  const windowStore = store ?? new RollingWindowStore({ store: new MemoryStore({ clock }) });
  app.use(rateLimit({ windowMs: WINDOW_MS, limit: 10, validate: false, store: windowStore, ...options }));
  app.get('/:status', ({ params }, response) => void response.sendStatus(Number(params.status)));
  app.use(((error, _request, response, _next) => {
    response.status(500).send(error.message);
  }) satisfies ErrorRequestHandler);
  return { app, clock, store: windowStore };
}

async function send(app: express.Express, count: number, path = '/200'): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index++) statuses.push((await request(app).get(path)).status);
  return statuses;
}

test('a store that fails after the check never reaches the response, and shows no address', async () => {
  const states = new Map<string, Float64Array>();
  let fails = false;
  const failing = createStore({
    async transact(keys, update) {
      if (fails) throw new Error('connect ECONNREFUSED 10.1.2.3:5432');
      for (const [index, change] of update(keys.map((key) => states.get(key))).entries()) {
        if (change) states.set(keys[index]!, Float64Array.from(change.numbers));
      }
    },
  });
  const store = new RollingWindowStore({ store: failing });
  store.init({ limit: 5, windowMs: WINDOW_MS, skipSuccessfulRequests: true });
  await store.increment('ann');
  fails = true;
  await store.decrement('ann');
  for (const call of ['increment', 'get', 'resetKey'] as const) {
    const error = await store[call]('ann').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 503, message: expect.not.stringContaining('10.1.2.3') });
  }
  fails = false;
  expect((await store.get('ann')).totalHits).toBe(1);
});

test('failed requests leave room, and rejected ones, which also failed, leave none', async () => {
  const { app, clock } = createApp({ limit: 3, skipFailedRequests: true });
  expect(await send(app, 5, '/404')).toEqual([404, 404, 404, 404, 404]);
  expect(await send(app, 3)).toEqual([200, 200, 200]);
  expect(await send(app, 5)).toEqual([429, 429, 429, 429, 429]);
  clock.advance(WINDOW_MS);
  expect(await send(app, 4)).toEqual([200, 200, 200, 429]);
});

test('a window frees nothing early when a later request fails', async () => {
  const { app, clock } = createApp({ limit: 2, skipFailedRequests: true });
  await send(app, 1);
  clock.advance(30_000);
  await send(app, 1, '/404');
  clock.advance(30_000);
  expect(await send(app, 3)).toEqual([200, 429, 429]);
});

test('with `skipSuccessfulRequests` only failures count', async () => {
  const { app } = createApp({ limit: 2, skipSuccessfulRequests: true });
  expect(await send(app, 3)).toEqual([200, 200, 200]);
  expect(await send(app, 3, '/401')).toEqual([401, 401, 429]);
  expect(await send(app, 1)).toEqual([429]);
});

test('getKey and resetKey inspect and reset a client', async () => {
  const limiter = rateLimit({
    ...{ windowMs: WINDOW_MS, limit: 2, validate: false, keyGenerator: () => 'ann' },
    store: new RollingWindowStore(),
  });
  const app = express()
    .use(limiter)
    .get('/:status', (_request, response) => void response.sendStatus(200));
  expect(await send(app, 3)).toEqual([200, 200, 429]);
  expect(await limiter.getKey('ann')).toMatchObject({ totalHits: 2 });
  await limiter.resetKey('ann');
  expect(await limiter.getKey('ann')).toMatchObject({ totalHits: 0 });
  expect(await send(app, 1)).toEqual([200]);
});

test('limiters share a store, each with its prefix', async () => {
  const store = new MemoryStore();
  const one = createApp({ limit: 1 }, new RollingWindowStore({ store, prefix: 'one' }));
  const other = createApp({ limit: 1 }, new RollingWindowStore({ store, prefix: 'other' }));
  expect(await send(one.app, 2)).toEqual([200, 429]);
  expect(await send(other.app, 2)).toEqual([200, 429]);
  expect(one.store).toMatchObject({ localKeys: false, prefix: 'one' });
});

test('a store for two limiters, or for none, is an error', async () => {
  const { store } = createApp();
  expect(() => store.init({ limit: 1, windowMs: 1000 })).toThrow(
    'Expected `store` to be a RollingWindowStore that no other limiter uses',
  );
  await expect(new RollingWindowStore().increment('ann')).rejects.toThrow('Expected `store` to be part of a limiter');
});

test('a failure is taken back although earlier successes have left the window', async () => {
  const { app, clock } = createApp({ limit: 5, skipFailedRequests: true });
  expect(await send(app, 5)).toEqual(Array(5).fill(200));
  clock.advance(WINDOW_MS);
  await send(app, 10, '/500');
  expect(await send(app, 6)).toEqual([...Array(5).fill(200), 429]);
});

test('a failure is taken back although earlier successes were reset', async () => {
  const { app, store } = createApp({ limit: 5, skipFailedRequests: true, keyGenerator: () => 'ann' });
  await send(app, 5);
  await store.resetKey('ann');
  await send(app, 8, '/500');
  expect(await send(app, 6)).toEqual([...Array(5).fill(200), 429]);
});

test('a flood of keys drops what was recorded for refunds, and no count', async () => {
  const store = new RollingWindowStore({ store: new MemoryStore({ clock: manualClock() }) });
  store.init({ windowMs: WINDOW_MS, limit: 10, skipFailedRequests: true });
  await store.increment('early');
  for (let index = 0; index < 20_000; index++) await store.increment(`flood ${index}`);
  await store.increment('late');
  for (const key of ['early', 'late']) await store.decrement(key);
  expect(await store.get('early')).toMatchObject({ totalHits: 1 });
  expect(await store.get('late')).toMatchObject({ totalHits: 0 });
});
