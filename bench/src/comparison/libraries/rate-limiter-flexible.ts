import {
  type RateLimiterAbstract,
  RateLimiterMemory,
  RateLimiterRedis,
  RateLimiterRes,
  RateLimiterUnion,
} from 'rate-limiter-flexible';
import type { Library, Limiter, Outcome, Rule } from '../library.js';

export const rateLimiterFlexible: Library = {
  inMemory: (rule) => toLimiter(new RateLimiterMemory(toOptions(rule))),

  combined(first, second) {
    const limiters = [first, second].map((rule, index) => {
      return new RateLimiterMemory({ ...toOptions(rule), keyPrefix: `rule ${index}` });
    });
    const union = new RateLimiterUnion(...limiters);
    return { check: (key) => toOutcome(union.consume(key)) };
  },

  inRedis: (rule, redis) => toLimiter(new RateLimiterRedis({ ...toOptions(rule), storeClient: redis.connect() })),
};

function toOptions({ limit, windowMs }: Rule) {
  return { points: limit, duration: windowMs / 1000 };
}

function toLimiter(limiter: RateLimiterAbstract): Limiter {
  return {
    check: async (key) => ({ ...(await toOutcome(limiter.consume(key))), refund: () => limiter.reward(key) }),
    reset: (key) => limiter.delete(key),
  };
}

/** It rejects the promise of a rejected action with the result, or with the results by prefix. */
async function toOutcome(consumed: Promise<unknown>): Promise<Outcome> {
  try {
    await consumed;
    return { allowed: true };
  } catch (rejection) {
    if (rejection instanceof Error) throw rejection;
    const results = rejection instanceof RateLimiterRes ? [rejection] : Object.values(rejection as object);
    return { allowed: false, retryAfterMs: Math.max(...results.map(({ msBeforeNext }) => msBeforeNext)) };
  }
}
