import { RateLimiter, rollingWindow, StoreError } from '@rollgate/core';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { startRedis, until } from '@rollgate/test-support';
import { Cluster, Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { createClient, createCluster } from 'redis';
import { createClient as createClient5 } from 'redis5';

/** Nothing listens on this port. */
const PORT = 1;
const url = `redis://127.0.0.1:${PORT}`;

interface Opened {
  readonly client: RedisClient;
  readonly state: RegExp;
  close(): unknown;
}

const fromIoredis = (client: Redis | Redis5 | Cluster, state: RegExp): Opened => ({
  client,
  state,
  close: () => client.disconnect(),
});

function fromNodeRedis(
  client: RedisClient & {
    on(event: 'error', listener: () => void): unknown;
    connect(): Promise<unknown>;
    destroy(): void;
  },
  state: RegExp,
): Opened {
  client.on('error', () => {}); // Otherwise an error ends the process.
  client.connect().catch(() => {});
  return { client, state, close: () => client.destroy() };
}

const clients: Record<string, () => Opened> = {
  'ioredis 6': () => fromIoredis(new Redis(url), /connecting|close/),
  'ioredis 5': () => fromIoredis(new Redis5(url), /connecting|close/),
  'an ioredis Cluster': () => fromIoredis(new Cluster([{ host: '127.0.0.1', port: PORT }]), /connecting|close/),
  'node-redis 6': () => fromNodeRedis(createClient({ url }), /connecting/),
  'node-redis 5': () => fromNodeRedis(createClient5({ url }) as never, /connecting/),
  'a node-redis cluster': () => fromNodeRedis(createCluster({ rootNodes: [{ url }] }) as never, /connecting|closed/),
};

let printed: jest.SpyInstance;
beforeEach(() => {
  printed = jest.spyOn(console, 'error').mockImplementation();
  jest.spyOn(process, 'emitWarning').mockImplementation();
});
afterEach(() => jest.restoreAllMocks());

test.each(Object.keys(clients))('an error contains the reason for the missing reply: %s', async (kind) => {
  const { client, state, close } = clients[kind]!();
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
