import { createRequire } from 'node:module';
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { MemoryStore } from 'express-rate-limit';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { InMemoryRateLimiter } from 'rolling-rate-limiter';
import { versionOf } from './machine.js';

/** A library that keeps its counts in memory, called as its own adapter or its documentation does. */
export interface Subject {
  /** Checks and records one action. Some libraries return a rejection, others reject the promise with it. */
  check(key: string): unknown;
  isRejection(result: unknown): boolean;
  /** Releases everything, including timers. */
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

const WINDOW_MS = 60_000;

/** Creates a subject with `limit` actions a minute and room for `keyCount` keys. */
export function createSubject(name: SubjectName, limit: number, keyCount: number): Subject {
  return FACTORIES[name](limit, keyCount);
}

const FACTORIES: Record<SubjectName, (limit: number, keyCount: number) => Subject> = {
  rollgate(limit) {
    const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: WINDOW_MS }) });
    return {
      check: (key) => limiter.check(key),
      isRejection: (result) => !(result as { allowed: boolean }).allowed,
      dispose: () => limiter.close(),
    };
  },

  'express-rate-limit'(limit) {
    const store = new MemoryStore();
    store.init({ windowMs: WINDOW_MS } as Parameters<typeof store.init>[0]);
    return {
      check: (key) => store.increment(key),
      isRejection: (result) => (result as { totalHits: number }).totalHits > limit,
      dispose: () => store.shutdown(),
    };
  },

  '@fastify/rate-limit'(limit, keyCount) {
    const store = new LocalStore(false, false, keyCount); // Its default of 5,000 keys would drop the others.
    return {
      check: (key) =>
        new Promise((resolve, reject) => {
          store.incr(key, (error, result) => (error ? reject(error) : resolve(result)), WINDOW_MS, limit);
        }),
      isRejection: (result) => (result as { current: number }).current > limit,
      dispose: () => {},
    };
  },

  'rate-limiter-flexible'(limit) {
    const limiter = new RateLimiterMemory({ points: limit, duration: WINDOW_MS / 1000 });
    return {
      check: (key) => limiter.consume(key),
      isRejection: (result) => (result as { consumedPoints: number }).consumedPoints > limit,
      dispose: (keys) => Promise.all(keys.map((key) => limiter.delete(key))),
    };
  },

  'rolling-rate-limiter'(limit) {
    const limiter = new InMemoryRateLimiter({ interval: WINDOW_MS, maxInInterval: limit });
    return {
      check: (key) => limiter.limit(key),
      isRejection: (result) => result === true,
      dispose: (keys) => Promise.all(keys.map((key) => limiter.clear(key))),
    };
  },
};

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
