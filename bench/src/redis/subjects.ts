import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import type { Redis } from 'ioredis';
import { RedisStore as RateLimitRedis, type RedisReply } from 'rate-limit-redis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { RedisRateLimiter } from 'rolling-rate-limiter';
import { captureEvalsha } from './capture.js';

/** A limiter that keeps its state in Redis, called as its documentation does, or a command for comparison. */
export interface RedisSubject {
  /** Checks and records one action. Some libraries return a rejection, others reject the promise with it. */
  check(key: string): Promise<unknown>;
  isRejection(result: unknown): boolean;
  /** A faster way to record, for a library whose checks are too slow to fill a log. */
  record?(key: string): Promise<unknown>;
}

export const LIBRARIES = [
  'rollgate, packed',
  'rollgate, sorted-set',
  'rate-limit-redis',
  'rate-limiter-flexible',
  'rolling-rate-limiter',
] as const;
export const REFERENCES = ['INCR', 'INCR + PTTL', 'EVALSHA'] as const;
export const REDIS_SUBJECT_NAMES = [...LIBRARIES, ...REFERENCES] as const;
export type RedisSubjectName = (typeof REDIS_SUBJECT_NAMES)[number];

/** The subject with which the others are compared: Rollgate with its default log. */
export const BASELINE = 'rollgate, packed' satisfies RedisSubjectName;

const WINDOW_MS = 60_000;

/** Creates a subject with `limit` actions a minute. */
export async function createRedisSubject(name: RedisSubjectName, client: Redis, limit: number): Promise<RedisSubject> {
  return FACTORIES[name](client, limit);
}

const FACTORIES: Record<RedisSubjectName, (client: Redis, limit: number) => RedisSubject | Promise<RedisSubject>> = {
  'rollgate, packed': (client, limit) => createRollgate(client, limit, 'packed'),

  'rollgate, sorted-set': (client, limit) => createRollgate(client, limit, 'sorted-set'),

  async 'rate-limit-redis'(client, limit) {
    const store = new RateLimitRedis({
      sendCommand: (command: string, ...args: string[]) => client.call(command, ...args) as Promise<RedisReply>,
    });
    await store.init({ windowMs: WINDOW_MS } as Parameters<typeof store.init>[0]);
    return {
      check: (key) => store.increment(key),
      isRejection: (result) => (result as { totalHits: number }).totalHits > limit,
    };
  },

  'rate-limiter-flexible'(client, limit) {
    const limiter = new RateLimiterRedis({ storeClient: client, points: limit, duration: WINDOW_MS / 1000 });
    return {
      check: (key) => limiter.consume(key),
      isRejection: (result) => (result as { consumedPoints: number }).consumedPoints > limit,
    };
  },

  'rolling-rate-limiter'(client, limit) {
    const namespace = 'rolling:';
    const limiter = new RedisRateLimiter({ client, namespace, interval: WINDOW_MS, maxInInterval: limit });
    return {
      check: (key) => limiter.limit(key),
      isRejection: (result) => result === true,
      // Its check reads the whole log each time, so 10,000 of them take a minute.
      record: (key) => client.zadd(namespace + key, Date.now() * 1000, crypto.randomUUID()),
    };
  },

  INCR(client, limit) {
    return {
      check: (key) => client.incr(key),
      isRejection: (result) => (result as number) > limit,
    };
  },

  /** The least that a fixed window must read, in one step. */
  async 'INCR + PTTL'(client, limit) {
    const script = `return { redis.call('INCR', KEYS[1]), redis.call('PTTL', KEYS[1]) }`;
    const sha = (await client.script('LOAD', script)) as string;
    return {
      check: (key) => client.evalsha(sha, 1, key),
      isRejection: (result) => (result as [number, number])[0] > limit,
    };
  },

  /** Rollgate's script with the arguments of one check, sent by the client alone. */
  async EVALSHA(client, limit) {
    const rollgate = createRollgate(client, limit, 'packed');
    await rollgate.check('first'); // Loads the script.
    const evalsha = await captureEvalsha(client, rollgate.check);
    return {
      check: evalsha,
      isRejection: () => false, // Only the store can read its reply.
    };
  },
};

function createRollgate(client: Redis, limit: number, log: 'packed' | 'sorted-set'): RedisSubject {
  const store = new RedisStore({ client, log });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: WINDOW_MS }), store });
  return {
    check: (key) => limiter.check(key),
    isRejection: (result) => !(result as { allowed: boolean }).allowed,
  };
}
