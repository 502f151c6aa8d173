import { concurrency } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { fairWaiting } from '@rollgate/redis/waiting';
import { startRedis, until } from '@rollgate/test-support';
import { Redis } from 'ioredis';
import { createFetch, discord, github, openai } from '../src';
import { TestApi } from './test-api';

const api = TestApi.forThisFile();
let redis: Awaited<ReturnType<typeof startRedis>>;
const clients: Redis[] = [];

beforeAll(async () => {
  redis = await startRedis();
});
afterAll(async () => {
  for (const client of clients) client.disconnect();
  await redis.stop();
});

/** Creates the store of one process. */
function createStore(): RedisStore {
  const client = new Redis(redis.url);
  clients.push(client);
  return new RedisStore({ client });
}

const TIMEOUT = { code: 'ERR_ROLLGATE_WAIT_TIMEOUT' };
const quota =
  (prefix: string, unit = '') =>
  (remaining: number, reset: string) => ({
    [`${prefix}-limit${unit}`]: '100',
    [`${prefix}-remaining${unit}`]: String(remaining),
    [`${prefix}-reset${unit}`]: reset,
  });

test.each([
  ['github', github(), quota('x-ratelimit')(0, '600')],
  ['openai', openai(), quota('x-ratelimit', '-tokens')(0, '10m0s')],
  ['discord', discord(), { ...quota('x-ratelimit')(0, '1'), 'x-ratelimit-reset-after': '600.5' }],
] as const)(
  'what a response of %s reports holds for other processes on the same Redis',
  async (name, dialect, headers) => {
    api.answerWith({ headers });
    const create = (bucket: string) =>
      createFetch({
        store: createStore(),
        prefix: name,
        bucket: () => bucket,
        dialects: [dialect],
        cost: () => ({ tokens: 50 }),
        storeTimeout: '30s',
      });
    const [one, other, another] = [create('me'), create('me'), create('you')];
    expect((await one(api.url)).status).toBe(200);
    await expect(other(api.url)).rejects.toMatchObject(TIMEOUT);
    expect((await another(api.url)).status).toBe(200);
    expect(api.received).toHaveLength(2);
  },
);

test('slots of one process are free for others as soon as its call ends', async () => {
  api.answerWith({ headers: quota('x-ratelimit')(50, '600') });
  const limits = { atOnce: concurrency({ limit: 1, lease: '1h' }) };
  const create = () =>
    createFetch({ store: createStore(), prefix: 'slots', limits, maxWait: '1s', storeTimeout: '30s' });
  for (const limited of [create(), create()]) {
    expect((await limited(api.url)).status).toBe(200);
    await limited.close(); // Resolves when the store knows that the call has ended.
  }
});

test('`Retry-After` holds for other processes, too', async () => {
  api.answerWith({ status: 429, headers: { 'retry-after': '600' } });
  const create = () => createFetch({ store: createStore(), prefix: 'retry', storeTimeout: '30s' });
  const one = create();
  expect((await one(api.url)).status).toBe(429);
  await one.close();
  await expect(create()(api.url)).rejects.toMatchObject(TIMEOUT);
});

test('with `fairWaiting`, the calls of all processes start in the order in which they were made', async () => {
  const counter = new Redis(redis.url);
  clients.push(counter);
  const countQueued = async () => {
    const queues = await counter.keys('fair*/q');
    const counts = await Promise.all(queues.map((queue) => counter.zcount(queue, 0, '+inf')));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  let respond = () => {};
  const held = new Promise<void>((resolve) => {
    respond = resolve;
  });
  api.received.length = 0;
  // Only one call may be open at a time.
  api.answer = () => held.then(() => ({ headers: quota('x-ratelimit')(1, '600') }));
  const create = () => {
    const [client, subscriber] = [new Redis(redis.url), new Redis(redis.url)];
    clients.push(client, subscriber);
    const store = new RedisStore({ client, waiting: fairWaiting({ subscriber }) });
    return createFetch({ store, prefix: 'fair', dialects: [github()], bucket: () => 'me', storeTimeout: '30s' });
  };
  const processes = [create(), create()];
  const calls = [0, 1, 1, 0, 1, 0];
  const responses: Promise<Response>[] = [];
  for (const [call, process] of calls.entries()) {
    responses.push(processes[process]!(`${api.url}/${call}`));
    if (call === 0) await until('the first call is open', async () => api.received.length === 1);
    else await until('the call waits', async () => (await countQueued()) === call);
  }
  respond();
  await Promise.all(responses);
  expect(api.received.map(({ path }) => path)).toEqual(calls.map((_, call) => `/${call}`));
});
