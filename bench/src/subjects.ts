import { createRequire } from 'node:module';
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { MemoryStore } from 'express-rate-limit';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { InMemoryRateLimiter } from 'rolling-rate-limiter';

/** A library that keeps its counts in memory, called as its own adapter or its documentation calls it. */
export interface Subject {
  /** Checks and records one action. Refused: the answer says so, or it is what the promise rejects with. */
  check(key: string): unknown;
  isRefusal(answer: unknown): boolean;
  /** Lets go of everything, timers included. */
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

const WINDOW_MS = 60_000;

/** Makes a fresh one with `limit` actions a minute and room for `keyCount` keys. */
export function createSubject(name: SubjectName, limit: number, keyCount: number): Subject {
  return FACTORIES[name](limit, keyCount);
}

const FACTORIES: Record<SubjectName, (limit: number, keyCount: number) => Subject> = {
  rollgate(limit) {
    const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: WINDOW_MS }) });
    return {
      check: (key) => limiter.decide(key),
      isRefusal: (answer) => !(answer as { allowed: boolean }).allowed,
      dispose: () => limiter.close(),
    };
  },

  'express-rate-limit'(limit) {
    const store = new MemoryStore();
    store.init({ windowMs: WINDOW_MS } as Parameters<typeof store.init>[0]);
    return {
      check: (key) => store.increment(key),
      isRefusal: (answer) => (answer as { totalHits: number }).totalHits > limit,
      dispose: () => store.shutdown(),
    };
  },

  '@fastify/rate-limit'(limit, keyCount) {
    const store = new LocalStore(false, false, keyCount); // Its default of 5,000 keys would forget the others.
    return {
      check: (key) =>
        new Promise((resolve, reject) => {
          store.incr(key, (error, answer) => (error ? reject(error) : resolve(answer)), WINDOW_MS, limit);
        }),
      isRefusal: (answer) => (answer as { current: number }).current > limit,
      dispose: () => {},
    };
  },

  'rate-limiter-flexible'(limit) {
    const limiter = new RateLimiterMemory({ points: limit, duration: WINDOW_MS / 1000 });
    return {
      check: (key) => limiter.consume(key),
      isRefusal: (answer) => (answer as { consumedPoints: number }).consumedPoints > limit,
      dispose: (keys) => Promise.all(keys.map((key) => limiter.delete(key))),
    };
  },

  'rolling-rate-limiter'(limit) {
    const limiter = new InMemoryRateLimiter({ interval: WINDOW_MS, maxInInterval: limit });
    return {
      check: (key) => limiter.limit(key),
      isRefusal: (answer) => answer === true,
      dispose: (keys) => Promise.all(keys.map((key) => limiter.clear(key))),
    };
  },
};

/** What the plugin of @fastify/rate-limit calls; it exports no types of it. */
interface FastifyLocalStore {
  incr(
    key: string,
    callback: (error: Error | null, answer: { current: number; ttl: number }) => void,
    windowMs: number,
    limit: number,
  ): void;
}
const LocalStore = createRequire(import.meta.url)('@fastify/rate-limit/store/LocalStore.js') as new (
  continueExceeding: boolean,
  exponentialBackoff: boolean,
  keyCount: number,
) => FastifyLocalStore;

/** Different IPv4 addresses, as text. */
export function ipv4Key(index: number): string {
  return `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
}

/** What a check rejected with, when that is its answer; an error goes on its way. */
export function toAnswer(rejection: unknown): unknown {
  if (rejection instanceof Error) throw rejection;
  return rejection;
}
