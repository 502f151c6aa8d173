import { createRequire } from 'node:module';
import { InMemoryRateLimiter, type RateLimiter, RedisRateLimiter } from 'rolling-rate-limiter';
import type { Library, Limiter, Rule } from '../library.js';

// It reads the time from a native module, which no fake time reaches.
const require = createRequire(createRequire(import.meta.url).resolve('rolling-rate-limiter'));
require('microtime').now = () => Date.now() * 1000;

export const rollingRateLimiter: Library = {
  hasClientClock: true,

  inMemory: (rule) => toLimiter(new InMemoryRateLimiter(toOptions(rule))),

  inRedis(rule, redis) {
    return toLimiter(new RedisRateLimiter({ ...toOptions(rule), client: redis.connect(), namespace: 'rolling:' }));
  },
};

function toOptions({ limit, windowMs }: Rule) {
  return { interval: windowMs, maxInInterval: limit };
}

function toLimiter(limiter: RateLimiter): Limiter {
  return {
    async check(key) {
      const { blocked, millisecondsUntilAllowed } = await limiter.limitWithInfo(key);
      return { allowed: !blocked, retryAfterMs: millisecondsUntilAllowed };
    },
    reset: (key) => limiter.clear(key),
  };
}
