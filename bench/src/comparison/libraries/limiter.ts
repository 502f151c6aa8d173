import { RateLimiter, TokenBucket } from 'limiter';
import type { Library, Rule } from '../library.js';

export const limiter: Library = {
  hasKeys: false,

  /** It has no keys, so each one gets a limiter. */
  inMemory({ limit, windowMs }) {
    const limiters = new Map<string, RateLimiter>();
    return {
      async check(key) {
        const one = limiters.get(key) ?? new RateLimiter({ tokensPerInterval: limit, interval: windowMs });
        limiters.set(key, one);
        return { allowed: one.tryRemoveTokens(1), retryAfterMs: one.getWaitTime(1) };
      },
    };
  },

  combined(first, second) {
    const bucket = createBucket(second, createBucket(first));
    return { check: async () => ({ allowed: bucket.tryRemoveTokens(1) }) };
  },
};

function createBucket({ limit, windowMs }: Rule, parentBucket?: TokenBucket): TokenBucket {
  const bucket = new TokenBucket({
    bucketSize: limit,
    tokensPerInterval: limit,
    interval: windowMs,
    ...(parentBucket && { parentBucket }),
  });
  bucket.content = limit; // A bucket starts empty.
  return bucket;
}
