import type { Decision, Limits } from '@rollgate/core';
import { RedisStore, type RedisStoreOptions } from '@rollgate/redis';
import type { Redis } from 'ioredis';
import { RedisStore as RateLimitRedis, type RedisReply } from 'rate-limit-redis';
import { RateLimiterRedis } from 'rate-limiter-flexible';
import { RedisRateLimiter } from 'rolling-rate-limiter';
import { ALGORITHMS, type Algorithm, createLimit } from '../limits.js';
import { createRollgate, hasHitsAbove, hasPointsAbove, type StoredSettings, type StoredSubject } from '../subjects.js';

/** A limiter that keeps its state in Redis, called as its documentation does, or a command for comparison. */
export interface RedisSubject extends StoredSubject {
  /** Returns the hits in the window after an allowed check, if the subject keeps a log. */
  countHits?(result: unknown): number;
  /** A faster way to record, for a library whose checks are too slow to fill a log. */
  record?(key: string): Promise<unknown>;
}

/** The settings of a subject, and whether Rollgate may reject from its memory. */
export interface SubjectSettings extends StoredSettings {
  /** Whether Rollgate uses its denial cache, as it does by default. @defaultValue `true` */
  readonly denialCache?: boolean;
}

/** Rollgate with its default log, and with the one that stock tools can read. */
export const ROLLGATES = ['rollgate', 'rollgate, sorted-set'] as const;
export const LIBRARIES = [...ROLLGATES, 'rate-limit-redis', 'rate-limiter-flexible', 'rolling-rate-limiter'] as const;
/** Rollgate with a second rolling window on the same key. */
export const TWO_WINDOWS = 'rollgate, two windows';
export const REFERENCES = ['INCR', 'INCR + PTTL'] as const;
/** Rollgate with two limits of different algorithms. Only its instructions are counted. */
export const TWO_LIMITS = 'rollgate, rolling and fixed window';
export const REDIS_SUBJECT_NAMES = [...LIBRARIES, TWO_WINDOWS, ...REFERENCES] as const;
export type RedisSubjectName = (typeof REDIS_SUBJECT_NAMES)[number];

/** What checks in Redis: also each algorithm by itself. */
export type InRedis = RedisSubjectName | Algorithm | typeof TWO_LIMITS;

/** The subject with which the others are compared. */
export const BASELINE = 'rollgate' satisfies RedisSubjectName;

export async function createRedisSubject(
  name: InRedis,
  client: Redis,
  settings: SubjectSettings,
): Promise<RedisSubject> {
  return FACTORIES[name](client, settings);
}

type Factory = (client: Redis, settings: SubjectSettings) => RedisSubject | Promise<RedisSubject>;

const createAlgorithm =
  (algorithm: Algorithm, storeOptions: Pick<RedisStoreOptions, 'log'> = {}): Factory =>
  (client, settings) =>
    createOnRedis(client, settings, createLimit(algorithm, settings.limit, settings.windowMs), storeOptions);

const FACTORIES: Record<InRedis, Factory> = {
  ...(Object.fromEntries(ALGORITHMS.map((name) => [name, createAlgorithm(name)])) as Record<Algorithm, Factory>),

  rollgate: createAlgorithm('rollingWindow'),

  'rollgate, sorted-set': createAlgorithm('rollingWindow', { log: 'sorted-set' }),

  [TWO_WINDOWS](client, settings) {
    const { limit, windowMs } = settings;
    const long = createLimit('rollingWindow', limit * 10, windowMs * 60);
    return createOnRedis(client, settings, { short: createLimit('rollingWindow', limit, windowMs), long });
  },

  [TWO_LIMITS](client, settings) {
    const { limit, windowMs } = settings;
    const rolling = createLimit('rollingWindow', limit, windowMs);
    return createOnRedis(client, settings, { rolling, fixed: createLimit('fixedWindow', limit, windowMs) });
  },

  async 'rate-limit-redis'(client, { limit, windowMs }) {
    const store = new RateLimitRedis({
      sendCommand: (command: string, ...args: string[]) => client.call(command, ...args) as Promise<RedisReply>,
    });
    await store.init({ windowMs } as Parameters<typeof store.init>[0]);
    return {
      check: (key) => store.increment(key),
      isRejection: hasHitsAbove(limit),
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
      isRejection: hasPointsAbove(limit),
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

function createOnRedis(
  client: Redis,
  settings: SubjectSettings,
  limits: Limits,
  storeOptions: Pick<RedisStoreOptions, 'log'> = {},
): RedisSubject {
  const { limit, denialCache = true } = settings;
  const options = { client, ...storeOptions, ...(denialCache ? {} : { denialCache: false as const }) };
  return {
    ...createRollgate(settings, limits, (clock) => new RedisStore({ ...options, clock })),
    countHits: (result) => limit - (result as Decision).remaining,
  };
}
