import { RateLimiter, rollingWindow, StoreError } from '@rollgate/core';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { startRedis, until } from '@rollgate/test-support';
import { Cluster, Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { createClient, createCluster } from 'redis';
import { createClient as createClient5 } from 'redis5';
import { fromIoredis, fromNodeRedis, type OpenClient } from './support/clients.js';

/** Nothing listens on this port. */
const PORT = 1;
const url = `redis://127.0.0.1:${PORT}`;

/** By the kind of client: how to open one, and its state without a server. */
const clients: [kind: string, state: RegExp, open: () => OpenClient][] = [
  ['ioredis 6', /connecting|close/, () => fromIoredis(new Redis(url))],
  ['ioredis 5', /connecting|close/, () => fromIoredis(new Redis5(url))],
  ['an ioredis Cluster', /connecting|close/, () => fromIoredis(new Cluster([{ host: '127.0.0.1', port: PORT }]))],
  ['node-redis 6', /connecting/, () => connecting(createClient({ url }))],
  ['node-redis 5', /connecting/, () => connecting(createClient5({ url }))],
  ['a node-redis cluster', /connecting|closed/, () => connecting(createCluster({ rootNodes: [{ url }] }))],
];

/** A client of node-redis that will never be connected. */
function connecting(client: Parameters<typeof fromNodeRedis>[0]): OpenClient {
  fromNodeRedis(client).catch(() => {});
  return { client: client as unknown as RedisClient, close: () => client.destroy() };
}

let printed: jest.SpyInstance;
beforeEach(() => {
  printed = jest.spyOn(console, 'error').mockImplementation();
  jest.spyOn(process, 'emitWarning').mockImplementation();
});
afterEach(() => jest.restoreAllMocks());

test.each(clients)('an error contains the reason for the missing reply: %s', async (_, state, open) => {
  const { client, close } = open();
  try {
    const limits = rollingWindow({ limit: 1, window: '1m' });
    const store = new RedisStore({ client });
    await until('the client has an error', async () => store.connectionTo('').lastError !== undefined);
    const limiter = new RateLimiter({ limits, store, timeout: 20, onStoreError: 'throw' });
    for (let call = 0; call < 2; call++) {
      const error = await limiter.check('ann').catch((error) => error);
      expect(error).toBeInstanceOf(StoreError);
      expect(error.message).toMatch(state);
      expect(error.message).toMatch(/ECONNREFUSED|Failed to refresh slots cache|None of the root nodes/);
      expect(error.cause).toHaveProperty('stack');
    }
  } finally {
    close();
  }
});

/** A client that its app has closed, or has not opened, and the reason for which its calls fail. */
const CLOSED: [what: string, open: (url: string) => Promise<RedisClient>, reason: string][] = [
  [
    'a closed client',
    async (url) => {
      const client = new Redis(url);
      await client.ping();
      client.disconnect();
      return client;
    },
    'Connection is closed.',
  ],
  ['a client that was never connected', async (url) => createClient({ url }) as RedisClient, 'The client is closed'],
];

test.each(CLOSED)('a call with %s fails at once, with the reason', async (_, open, message) => {
  const server = await startRedis();
  const client = await open(server.url);
  const limits = rollingWindow({ limit: 1, window: '1m' });
  const limiter = new RateLimiter({ limits, store: new RedisStore({ client }), timeout: '10s', onStoreError: 'throw' });
  // A call that waits for its deadline fails without a cause.
  await expect(limiter.check('ann')).rejects.toMatchObject({ name: 'StoreError', cause: { message } });
  await server.stop();
});

test('stores on a client add their listeners once, and ioredis still prints its errors', async () => {
  const client = new Redis(url);
  try {
    for (let count = 0; count < 30; count++) new RedisStore({ client });
    expect(client.listenerCount('error')).toBe(1);
    await until('an error is printed', async () => printed.mock.calls.length > 0);
    expect(printed.mock.calls[0]).toEqual([
      '[ioredis] Unhandled error event:',
      expect.stringContaining('ECONNREFUSED'),
    ]);
    const messages: unknown[] = [];
    client.on('error', (error) => messages.push(error));
    const before = printed.mock.calls.length;
    await until('the listener has heard an error', async () => messages.length > 0);
    expect(printed.mock.calls).toHaveLength(before);
  } finally {
    client.disconnect();
  }
});

test('stores of two copies of this package add their listeners once', () => {
  const client = new Redis(url, { lazyConnect: true });
  new RedisStore({ client });
  jest.isolateModules(() => {
    const copy = require('@rollgate/redis') as typeof import('@rollgate/redis');
    expect(copy.RedisStore).not.toBe(RedisStore);
    new copy.RedisStore({ client });
  });
  expect(client.listenerCount('error')).toBe(1);
  client.disconnect();
});
