import { RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import type { Redis } from 'ioredis';
import { RedisStore as RateLimitRedis, type RedisReply } from 'rate-limit-redis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { RedisRateLimiter } from 'rolling-rate-limiter';
import { captureEvalsha } from './capture.js';

/** A limiter whose state is at a Redis server, called as its documentation does it, or a command to hold it against. */
export interface RedisSubject {
  /** Checks and records one action. Refused: the answer says so, or it is what the promise rejects with. */
  check(key: string): Promise<unknown>;
  isRefusal(answer: unknown): boolean;
  /** Records what a check does, in a quicker way; only where a check takes too long to fill a log with. */
  record?(key: string): Promise<unknown>;
}

export const LIBRARIES = [
  'rollgate, list',
  'rollgate, sorted-set',
  'rate-limit-redis',
  'rate-limiter-flexible',
  'rolling-rate-limiter',
] as const;
export const REFERENCES = ['INCR', 'INCR + PTTL', 'EVALSHA'] as const;
export const REDIS_SUBJECT_NAMES = [...LIBRARIES, ...REFERENCES] as const;
export type RedisSubjectName = (typeof REDIS_SUBJECT_NAMES)[number];

/** What the others are held against: Rollgate with the log that is its default. */
export const OURS = 'rollgate, list' satisfies RedisSubjectName;

const WINDOW_MS = 60_000;

/** Makes one with `limit` actions a minute. */
export async function createRedisSubject(name: RedisSubjectName, client: Redis, limit: number): Promise<RedisSubject> {
  return FACTORIES[name](client, limit);
}

const FACTORIES: Record<RedisSubjectName, (client: Redis, limit: number) => RedisSubject | Promise<RedisSubject>> = {
  'rollgate, list': (client, limit) => createRollgate(client, limit, 'list'),

  'rollgate, sorted-set': (client, limit) => createRollgate(client, limit, 'sorted-set'),

  async 'rate-limit-redis'(client, limit) {
    const store = new RateLimitRedis({
      sendCommand: (command: string, ...args: string[]) => client.call(command, ...args) as Promise<RedisReply>,
    });
    await store.init({ windowMs: WINDOW_MS } as Parameters<typeof store.init>[0]);
    return {
      check: (key) => store.increment(key),
      isRefusal: (answer) => (answer as { totalHits: number }).totalHits > limit,
    };
  },

  'rate-limiter-flexible'(client, limit) {
    const limiter = new RateLimiterRedis({ storeClient: client, points: limit, duration: WINDOW_MS / 1000 });
    return {
      check: (key) => limiter.consume(key),
      isRefusal: (answer) => (answer as { consumedPoints: number }).consumedPoints > limit,
    };
  },

  'rolling-rate-limiter'(client, limit) {
    const namespace = 'rolling:';
    const limiter = new RedisRateLimiter({ client, namespace, interval: WINDOW_MS, maxInInterval: limit });
    return {
      check: (key) => limiter.limit(key),
      isRefusal: (answer) => answer === true,
      // Its check reads the whole log each time, so that 10,000 of them take a minute.
      record: (key) => client.zadd(namespace + key, Date.now() * 1000, crypto.randomUUID()),
    };
  },

  INCR(client, limit) {
    return {
      check: (key) => client.incr(key),
      isRefusal: (answer) => (answer as number) > limit,
    };
  },

  /** The least that a fixed window needs to know, in one step. */
  async 'INCR + PTTL'(client, limit) {
    const script = `return { redis.call('INCR', KEYS[1]), redis.call('PTTL', KEYS[1]) }`;
    const sha = (await client.script('LOAD', script)) as string;
    return {
      check: (key) => client.evalsha(sha, 1, key),
      isRefusal: (answer) => (answer as [number, number])[0] > limit,
    };
  },

  /** Rollgate's own script, with the arguments of one check, sent by the client and nothing else. */
  async EVALSHA(client, limit) {
    const rollgate = createRollgate(client, limit, 'list');
    await rollgate.check('first'); // So that the script is there.
    const evalsha = await captureEvalsha(client, rollgate.check);
    return {
      check: evalsha,
      isRefusal: () => false, // Its answer is the store's to read.
    };
  },
};

function createRollgate(client: Redis, limit: number, log: 'list' | 'sorted-set'): RedisSubject {
  const store = new RedisStore({ client, log });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: WINDOW_MS }), store });
  return {
    check: (key) => limiter.check(key),
    isRefusal: (answer) => !(answer as { allowed: boolean }).allowed,
  };
}
