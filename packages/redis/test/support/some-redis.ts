import { randomUUID } from 'node:crypto';
import { type Limits, RateLimiter, type RateLimiterOptions } from '@rollgate/core';
import { RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import { startRedis } from '@rollgate/test-support';
import { Redis } from 'ioredis';

/** The ways to keep the hits of a key. */
export const LOGS = ['packed', 'sorted-set'] as const;
export type Log = (typeof LOGS)[number];

/** A server that other files may share, with a client for all tests of a file. */
export class SomeRedis {
  #server: Awaited<ReturnType<typeof startRedis>> | undefined;
  #client: Redis | undefined;

  /** Call this once, where the tests are registered. */
  static forThisFile(): SomeRedis {
    const redis = new SomeRedis();
    beforeAll(() => redis.#open());
    afterAll(() => redis.#close());
    return redis;
  }

  get url(): string {
    return this.#server!.url;
  }

  get client(): Redis {
    return this.#client!;
  }

  /** Creates a limiter with unique keys. Its timeout is long enough for a slow machine. */
  createLimiter<Given extends Limits>(
    limits: Given,
    store: Omit<RedisStoreOptions, 'client'> = {},
    options: Omit<RateLimiterOptions<Given>, 'limits' | 'store'> = {},
  ): RateLimiter<Given> {
    const redisStore = new RedisStore({ client: this.client, ...store });
    return new RateLimiter({ limits, store: redisStore, prefix: freshPrefix(), timeout: '30s', ...options });
  }

  /** The names of all keys with state of a limiter with this prefix. Leaves out the marks of finished operations. */
  async keysOf(prefix: string): Promise<string[]> {
    const found = new Set<string>();
    for await (const keys of this.client.scanStream({ match: `${prefix}:*`, count: 1000 })) {
      for (const key of keys as string[]) if (!key.endsWith(':#done')) found.add(key);
    }
    return [...found].sort();
  }

  async #open(): Promise<void> {
    this.#server = await startRedis();
    this.#client = new Redis(this.#server.url);
  }

  async #close(): Promise<void> {
    this.#client?.disconnect();
    await this.#server?.stop();
  }
}

/** Returns a prefix that no other test has. */
export function freshPrefix(): string {
  return `test-${randomUUID()}`;
}
