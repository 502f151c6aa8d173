import { createRequire } from 'node:module';
import { type Clock, type Decision, type Limits, MemoryStore, RateLimiter, type Store } from '@rollgate/core';
import { MemoryStore as ExpressStore } from 'express-rate-limit';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { InMemoryRateLimiter } from 'rolling-rate-limiter';
import { ALGORITHMS, type Algorithm, createLimit, WINDOW_MS } from './limits.js';
import { versionOf } from './machine.js';
import { ManualClock } from './manual-clock.js';

/** A library that keeps its counts in memory, called as its own adapter or its documentation does. */
export interface Subject {
  /** Checks and records one action. Some libraries return a rejection, others reject the promise with it. */
  check(key: string): unknown;
  isRejection(result: unknown): boolean;
  dispose(keys: readonly string[]): unknown;
}

export const SUBJECT_NAMES = [
  'rollgate',
  'express-rate-limit',
  '@fastify/rate-limit',
  'rate-limiter-flexible',
  'rolling-rate-limiter',
] as const;
export type SubjectName = (typeof SUBJECT_NAMES)[number];

/** The headers of a table with a column for each library. */
export function subjectHeaders(): Record<SubjectName, string> {
  const packageOf = (name: SubjectName) => (name === 'rollgate' ? '@rollgate/core' : name);
  const headers = SUBJECT_NAMES.map((name) => [name, `${name} ${versionOf(packageOf(name))}`]);
  return Object.fromEntries(headers) as Record<SubjectName, string>;
}

/** A library, or one of Rollgate's algorithms. */
export type InMemory = SubjectName | Algorithm;

export interface SubjectOptions {
  readonly limit: number;
  /** The number of keys for which there has to be room. */
  readonly keyCount: number;
  /** @defaultValue a minute */
  readonly windowMs?: number | undefined;
  /** The clock of one of Rollgate's algorithms. */
  readonly clock?: Clock | undefined;
}

export function createSubject(name: InMemory, options: SubjectOptions): Subject {
  return FACTORIES[name](options);
}

type Factory = (options: SubjectOptions) => Subject;

const createAlgorithm =
  (algorithm: Algorithm): Factory =>
  ({ limit, windowMs, clock }) => {
    const limits = createLimit(algorithm, limit, windowMs);
    const store = new MemoryStore({ clock });
    const limiter = new RateLimiter({ limits, store });
    return { check: (key) => limiter.check(key), isRejection: isRejected, dispose: () => store.close() };
  };

const FACTORIES: Record<InMemory, Factory> = {
  ...(Object.fromEntries(ALGORITHMS.map((name) => [name, createAlgorithm(name)])) as Record<Algorithm, Factory>),

  rollgate: createAlgorithm('rollingWindow'),

  'express-rate-limit'({ limit, windowMs = WINDOW_MS }) {
    const store = new ExpressStore();
    store.init({ windowMs } as Parameters<typeof store.init>[0]);
    return {
      check: (key) => store.increment(key),
      isRejection: hasHitsAbove(limit),
      dispose: () => store.shutdown(),
    };
  },

  '@fastify/rate-limit'({ limit, keyCount, windowMs = WINDOW_MS }) {
    const store = new LocalStore(false, false, keyCount); // Its default of 5,000 keys would drop the others.
    return {
      check: (key) =>
        new Promise((resolve, reject) => {
          store.incr(key, (error, result) => (error ? reject(error) : resolve(result)), windowMs, limit);
        }),
      isRejection: (result) => (result as { current: number }).current > limit,
      dispose: () => {},
    };
  },

  'rate-limiter-flexible'({ limit, windowMs = WINDOW_MS }) {
    const limiter = new RateLimiterMemory({ points: limit, duration: windowMs / 1000 });
    return {
      check: (key) => limiter.consume(key),
      isRejection: hasPointsAbove(limit),
      dispose: (keys) => Promise.all(keys.map((key) => limiter.delete(key))),
    };
  },

  'rolling-rate-limiter'({ limit, windowMs = WINDOW_MS }) {
    const limiter = new InMemoryRateLimiter({ interval: windowMs, maxInInterval: limit });
    return {
      check: (key) => limiter.limit(key),
      isRejection: (result) => result === true,
      dispose: (keys) => Promise.all(keys.map((key) => limiter.clear(key))),
    };
  },
};

/** A limiter whose state a server or a file keeps. */
export interface StoredSubject {
  /** Checks and records one action. Some libraries return a rejection, others reject the promise with it. */
  check(key: string): Promise<unknown>;
  isRejection(result: unknown): boolean;
}

/** The settings of a subject: its limit in each window. */
export interface StoredSettings {
  readonly limit: number;
  readonly windowMs: number;
  /** With it, each check of Rollgate is so much later than the one before, so full logs lose one hit for each new one. */
  readonly stepMs?: number;
}

export function createRollgate(
  { stepMs }: StoredSettings,
  limits: Limits,
  createStore: (clock: Clock | undefined) => Store,
): StoredSubject {
  const clock = stepMs === undefined ? undefined : new ManualClock();
  // A busy machine must not end the run.
  const limiter = new RateLimiter({ limits, store: createStore(clock), timeout: '1m', onStoreError: 'throw' });
  return {
    check(key) {
      if (clock !== undefined) clock.ms += stepMs!;
      return limiter.check(key);
    },
    isRejection: isRejected,
  };
}

export const isRejected = (decision: unknown): boolean => !(decision as Decision).allowed;

/** Whether a store of express-rate-limit has counted more than the limit. */
export const hasHitsAbove = (limit: number) => (result: unknown) => (result as { totalHits: number }).totalHits > limit;

/** Whether rate-limiter-flexible has counted more than the limit. */
export const hasPointsAbove = (limit: number) => (result: unknown) =>
  (result as { consumedPoints: number }).consumedPoints > limit;

/** The store that the plugin of @fastify/rate-limit calls. The package exports no types for it. */
interface FastifyLocalStore {
  incr(
    key: string,
    callback: (error: Error | null, result: { current: number; ttl: number }) => void,
    windowMs: number,
    limit: number,
  ): void;
}
const LocalStore = createRequire(import.meta.url)('@fastify/rate-limit/store/LocalStore.js') as new (
  continueExceeding: boolean,
  exponentialBackoff: boolean,
  keyCount: number,
) => FastifyLocalStore;

/** Returns a different IPv4 address for each index. */
export function ipv4Key(index: number): string {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
}

/** Returns the result with which a check rejected. Throws it if it is an error. */
export function toResult(rejection: unknown): unknown {
  if (rejection instanceof Error) throw rejection;
  return rejection;
}
