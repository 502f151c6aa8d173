import { type Decision, type Limits, MemoryStore, RateLimiter, rollingWindow, type Store } from '@rollgate/core';
import { rateLimit } from '@rollgate/express';
import { RedisStore } from '@rollgate/redis';
import type { Library, Limiter, Rule } from '../library.js';
import { serveExpress } from '../servers.js';

export const rollgate: Library = {
  keyBound: 1_000_000,

  inMemory: (rule) => createLimiter(toWindow(rule), createMemory()),

  combined: (first, second) => createLimiter({ first: toWindow(first), second: toWindow(second) }, createMemory()),

  inRedis: (rule, redis) => createLimiter(toWindow(rule), new RedisStore({ client: redis.connect() })),

  serve: ({ limit, windowMs }) => serveExpress(rateLimit({ limit, window: windowMs })),
};

function toWindow({ limit, windowMs }: Rule) {
  return rollingWindow({ limit, window: windowMs });
}

/** Its clock is monotonic, so it would not follow the time of the probes. */
function createMemory(): MemoryStore {
  return new MemoryStore({ clock: { now: () => Date.now() } });
}

function createLimiter(limits: Limits, store: Store): Limiter {
  const limiter = new RateLimiter({ limits, store, onStoreError: 'fallback' }); // The default of the adapters.
  return {
    async check(key) {
      const decision: Decision = await limiter.check(key);
      const { allowed, retryAfterMs } = decision;
      return { allowed, retryAfterMs, refund: () => limiter.refund(decision) };
    },
    reset: (key) => limiter.reset(key),
  };
}
