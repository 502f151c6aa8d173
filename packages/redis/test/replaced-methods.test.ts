import { RateLimiter, rollingWindow } from '@rollgate/core';
import { type RedisClient, RedisStore } from '@rollgate/redis';
import { Redis, type RedisOptions } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { Redis as Valkey } from 'iovalkey';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix } from './support/some-redis.js';

/** An app may replace a method of its client, for example to measure or to log. Its method expects all calls. */

const redis = PrivateRedis.forThisFile();

/** Rejects the call in which a store would send another command than that of its script. */
function validate([sha]: readonly unknown[]): void {
  if (!/^[0-9a-f]{40}$/.test(String(sha))) throw new Error(`Expected the hash of a script, got ${sha}`);
}

type Replace = (client: Redis, onCall: () => void) => Redis;

const replacements: Record<string, Replace> = {
  'a property of the client': (client, onCall) => {
    const original = client.evalsha.bind(client) as (...args: unknown[]) => Promise<unknown>;
    client.evalsha = async (...args: unknown[]) => {
      validate(args);
      onCall();
      return original(...args);
    };
    return client;
  },

  'a method of an heir': (client, onCall) =>
    Object.create(client, {
      evalsha: {
        value(this: unknown, ...args: unknown[]) {
          validate(args);
          onCall();
          return (client.evalsha as (...args: unknown[]) => unknown)(...args);
        },
      },
    }),

  'a proxy': (client, onCall) =>
    new Proxy(client, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]) => {
          if (name === 'evalsha') {
            validate(args);
            onCall();
          }
          return value.apply(target, args);
        };
      },
    }),
};

/** The types of the other two differ in methods that no test here calls. */
const classes: Record<string, typeof Redis> = {
  'ioredis 6': Redis,
  'ioredis 5': Redis5 as never,
  iovalkey: Valkey as never,
};
const cases = Object.keys(classes).flatMap((name) => Object.keys(replacements).map((how) => [name, how] as const));

test.each(cases)('%s: %s sees each script', async (name, how) => {
  const client = connect(classes[name]!);
  let seen = 0;
  const replaced = replacements[how]!(client, () => {
    seen += 1;
  });
  await expectDecisions(replaced);
  expect(seen).toBe(3);
});

test.each(Object.keys(classes))('%s: a method of a class sees each script', async (name) => {
  let seen = 0;
  class Metered extends (classes[name]!) {
    override evalsha(...args: unknown[]): Promise<unknown> {
      validate(args);
      seen += 1;
      return super.evalsha(...(args as [string, number]));
    }
  }
  const client = connect(Metered);
  await expectDecisions(client);
  expect(seen).toBe(3);
});

test.each(Object.keys(classes))('%s: an automatic pipeline contains the script', async (name) => {
  const client = connect(classes[name]!, { enableAutoPipelining: true });
  const store = new RedisStore({ client });
  const limits = rollingWindow({ limit: 5, window: '1h' });
  const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
  await limiter.check('ann');
  let writes = 0;
  const { stream } = client as unknown as { stream: { write(...args: unknown[]): boolean } };
  const write = stream.write.bind(stream);
  stream.write = (...args) => {
    writes += 1;
    return write(...args);
  };
  await Promise.all([limiter.check('ann'), client.get('a'), client.get('b')]);
  expect(writes).toBe(1);
});

/** Creates a client, which is closed after the tests. */
function connect<Client extends Redis>(
  create: new (url: string, options: RedisOptions) => Client,
  options: RedisOptions = {},
): Client {
  const client = new create(redis.server.url, options);
  redis.beforeStop(() => client.disconnect());
  return client;
}

/** Checks one key three times, in three scripts. */
async function expectDecisions(client: RedisClient): Promise<void> {
  const limits = rollingWindow({ limit: 2, window: '1h' });
  const limiter = new RateLimiter({
    limits,
    store: new RedisStore({ client }),
    prefix: freshPrefix(),
    timeout: '30s',
  });
  const allowed = [];
  for (let round = 0; round < 3; round++) allowed.push((await limiter.check('ann')).allowed);
  expect(allowed).toEqual([true, true, false]);
}
