import { Ratelimit } from '@upstash/ratelimit';
import { Redis } from '@upstash/redis';
import type { Library } from '../library.js';

export const upstashRatelimit: Library = {
  hasClientClock: true,

  inRedis({ limit, windowMs }, redis) {
    const { url, token } = redis.rest;
    const client = withoutFlags(new Redis({ url, token }));
    const ratelimit = new Ratelimit({ redis: client, limiter: Ratelimit.slidingWindow(limit, `${windowMs} ms`) });
    return {
      async check(key) {
        const { success, reset } = await ratelimit.limit(key);
        return { allowed: success, retryAfterMs: reset - Date.now() };
      },
      reset: (key) => ratelimit.resetUsedTokens(key),
    };
  },
};

/** Removes the first line of its scripts, which sets a flag of Upstash's server that Redis does not know. */
function withoutFlags(redis: Redis): Redis {
  redis.use((request, next) => next({ ...request, body: removeFlags(request.body) }));
  return redis;
}

function removeFlags(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(removeFlags);
  return typeof part === 'string' ? part.replace(/^#!lua .*\n/, '') : part;
}
