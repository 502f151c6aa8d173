import {
  type Decision,
  fixedWindow,
  type Limit,
  type Limits,
  RateLimiter,
  rollingWindow,
  tokenBucket,
} from '@rollgate/core';
import { RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import type { Redis } from 'ioredis';
import { RedisStore as RateLimitRedis, type RedisReply } from 'rate-limit-redis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { RedisRateLimiter } from 'rolling-rate-limiter';

/** A limiter that keeps its state in Redis, called as its documentation does, or a command for comparison. */
export interface RedisSubject {
  /** Checks and records one action. Some libraries return a rejection, others reject the promise with it. */
  check(key: string): Promise<unknown>;
  isRejection(result: unknown): boolean;
  /** Returns the hits in the window after an allowed check, if the subject keeps a log. */
  countHits?(result: unknown): number;
  /** A faster way to record, for a library whose checks are too slow to fill a log. */
  record?(key: string): Promise<unknown>;
}

/** The settings of a subject: its limit in each window, and whether Rollgate may reject from its memory. */
export interface SubjectSettings {
  readonly limit: number;
  readonly windowMs: number;
  /** Whether Rollgate uses its denial cache, as it does by default. @defaultValue `true` */
  readonly denialCache?: boolean;
}

/** Rollgate with its default log, and with the one that stock tools can read. */
export const ROLLGATES = ['rollgate', 'rollgate, sorted-set'] as const;
export const LIBRARIES = [...ROLLGATES, 'rate-limit-redis', 'rate-limiter-flexible', 'rolling-rate-limiter'] as const;
/** Rollgate with a second rolling window on the same key. */
export const TWO_WINDOWS = 'rollgate, two windows';
export const REFERENCES = ['INCR', 'INCR + PTTL'] as const;
/** Rollgate with other limits. Only their instructions are counted. */
export const OTHER_LIMITS = [
  'rollgate, fixed window',
  'rollgate, token bucket',
  'rollgate, rolling and fixed window',
] as const;
export const REDIS_SUBJECT_NAMES = [...LIBRARIES, TWO_WINDOWS, ...REFERENCES] as const;
export type RedisSubjectName = (typeof REDIS_SUBJECT_NAMES)[number];

/** The subject with which the others are compared. */
export const BASELINE = 'rollgate' satisfies RedisSubjectName;

export async function createRedisSubject(
  name: RedisSubjectName | (typeof OTHER_LIMITS)[number],
  client: Redis,
  settings: SubjectSettings,
): Promise<RedisSubject> {
  return FACTORIES[name](client, settings);
}

type Factory = (client: Redis, settings: SubjectSettings) => RedisSubject | Promise<RedisSubject>;

const FACTORIES: Record<RedisSubjectName | (typeof OTHER_LIMITS)[number], Factory> = {
  rollgate: (client, settings) => createRollgate(client, settings, rollingLimit(settings)),

  'rollgate, sorted-set': (client, settings) =>
    createRollgate(client, settings, rollingLimit(settings), { log: 'sorted-set' }),

  [TWO_WINDOWS](client, settings) {
    const { limit, windowMs } = settings;
    const longer = rollingLimit({ limit: limit * 10, windowMs: windowMs * 60 });
    return createRollgate(client, settings, { short: rollingLimit(settings), long: longer });
  },

  'rollgate, fixed window': (client, settings) => createRollgate(client, settings, fixedLimit(settings)),

  'rollgate, token bucket'(client, settings) {
    const { limit, windowMs } = settings;
    return createRollgate(client, settings, tokenBucket({ capacity: limit, refill: limit, every: `${windowMs}ms` }));
  },

  'rollgate, rolling and fixed window': (client, settings) =>
    createRollgate(client, settings, { rolling: rollingLimit(settings), fixed: fixedLimit(settings) }),

  async 'rate-limit-redis'(client, { limit, windowMs }) {
    const store = new RateLimitRedis({
      sendCommand: (command: string, ...args: string[]) => client.call(command, ...args) as Promise<RedisReply>,
    });
    await store.init({ windowMs } as Parameters<typeof store.init>[0]);
    return {
      check: (key) => store.increment(key),
      isRejection: (result) => (result as { totalHits: number }).totalHits > limit,
    };
  },

  'rate-limiter-flexible'(client, { limit, windowMs }) {
    const limiter = new RateLimiterRedis({
      storeClient: client,
      points: limit,
      duration: Math.max(1, windowMs / 1000),
    });
    return {
      check: (key) => limiter.consume(key),
      isRejection: (result) => (result as { consumedPoints: number }).consumedPoints > limit,
    };
  },

  'rolling-rate-limiter'(client, { limit, windowMs }) {
    const namespace = 'rolling:';
    const limiter = new RedisRateLimiter({ client, namespace, interval: windowMs, maxInInterval: limit });
    return {
      check: (key) => limiter.limit(key),
      isRejection: (result) => result === true,
      // Its check reads the whole log each time, so 10,000 of them take a minute.
      record: (key) => client.zadd(namespace + key, Date.now() * 1000, crypto.randomUUID()),
    };
  },

  INCR(client, { limit }) {
    return {
      check: (key) => client.incr(key),
      isRejection: (result) => (result as number) > limit,
    };
  },

  /** The least that a fixed window must read, in one step. */
  async 'INCR + PTTL'(client, { limit }) {
    const script = `return { redis.call('INCR', KEYS[1]), redis.call('PTTL', KEYS[1]) }`;
    const sha = (await client.script('LOAD', script)) as string;
    return {
      check: (key) => client.evalsha(sha, 1, key),
      isRejection: (result) => (result as [number, number])[0] > limit,
    };
  },
};

function rollingLimit({ limit, windowMs }: SubjectSettings): Limit {
  return rollingWindow({ limit, window: `${windowMs}ms` });
}

function fixedLimit({ limit, windowMs }: SubjectSettings): Limit {
  return fixedWindow({ limit, window: `${windowMs}ms` });
}

function createRollgate(
  client: Redis,
  { limit, denialCache = true }: SubjectSettings,
  limits: Limits,
  storeOptions: Pick<RedisStoreOptions, 'log'> = {},
): RedisSubject {
  const store = new RedisStore({ client, ...storeOptions, ...(denialCache ? {} : { denialCache: false }) });
  const limiter = new RateLimiter({ limits, store, timeout: '1m' }); // A busy machine must not end the run.
  return {
    check: (key) => limiter.check(key),
    isRejection: (result) => !(result as Decision).allowed,
    countHits: (result) => limit - (result as Decision).remaining,
  };
}
