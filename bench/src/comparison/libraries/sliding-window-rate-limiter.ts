import { SlidingWindowRateLimiter, type SlidingWindowRateLimiterBackend } from 'sliding-window-rate-limiter';
import type { Library, Limiter } from '../library.js';

export const slidingWindowRateLimiter: Library = {
  inMemory: ({ limit, windowMs }) => toLimiter(SlidingWindowRateLimiter.createLimiter({ interval: windowMs }), limit),

  inRedis({ limit, windowMs }, redis) {
    const client = redis.connect() as never; // It declares the types of ioredis 5.
    return toLimiter(SlidingWindowRateLimiter.createLimiter({ interval: windowMs, redis: client }), limit);
  },
};

function toLimiter(limiter: SlidingWindowRateLimiterBackend, limit: number): Limiter {
  return {
    async check(key) {
      const { token, reset } = await limiter.reserve(key, limit);
      if (token === undefined) return { allowed: false, retryAfterMs: reset };
      return { allowed: true, refund: () => limiter.cancel(key, token) };
    },
  };
}
