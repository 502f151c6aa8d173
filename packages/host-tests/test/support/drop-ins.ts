import { RollingWindowStore } from '@rollgate/express/express-rate-limit';
import { rollingWindowStore } from '@rollgate/fastify/fastify-rate-limit';
import { RollingWindowStore as HonoStore } from '@rollgate/hono/hono-rate-limiter';
import type { StorageOptions } from '@rollgate/http/drop-in';
import { RollingWindowStorage } from '@rollgate/nestjs/throttler';
import { rollingWindowStorage } from '@rollgate/web/better-auth';

/** What another rate limiter concludes from its storage about one request. */
export interface Concluded {
  readonly allowed: boolean;
  /** The wait of a rejection, in whole seconds. */
  readonly waitSeconds: number;
}

export type Consume = (key: string, limit: number, windowMs: number) => Promise<Concluded>;

/** The storage for each rate limiter, called and read as that one does. */
export const DROP_INS: Record<string, (options?: StorageOptions) => Consume> = {
  'express-rate-limit': (options) => consumeCounting(new RollingWindowStore(options)),
  'hono-rate-limiter': (options) => consumeCounting(new HonoStore(options)),
  '@fastify/rate-limit': (options) => {
    const store = new (rollingWindowStore(options))({});
    return (key, max, timeWindow) =>
      new Promise((resolve, reject) => {
        const onReply = (error: Error | null, usage?: { current: number; ttl: number }) => {
          if (error !== null) reject(error);
          else resolve({ allowed: !(usage!.current > max), waitSeconds: Math.ceil(usage!.ttl / 1000) });
        };
        store.incr(key, onReply, timeWindow, max);
      });
  },
  '@nestjs/throttler': (options) => {
    const storage = new RollingWindowStorage(options);
    return async (key, limit, ttl) => {
      const { isBlocked, timeToBlockExpire } = await storage.increment(key, ttl, limit, 0, 'default');
      return { allowed: !isBlocked, waitSeconds: timeToBlockExpire };
    };
  },
  'Better Auth': (options) => {
    const storage = rollingWindowStorage(options);
    return async (key, max, windowMs) => {
      const { allowed, retryAfter } = await storage.consume(key, { window: windowMs / 1000, max });
      return { allowed, waitSeconds: retryAfter ?? 0 };
    };
  },
};

/** A store of express-rate-limit or hono-rate-limiter has one limit. */
function consumeCounting(store: RollingWindowStore): Consume {
  let isInitialized = false;
  return async (key, limit, windowMs) => {
    if (!isInitialized) store.init({ limit, windowMs });
    isInitialized = true;
    const { totalHits, resetTime } = await store.increment(key);
    const waitSeconds = Math.max(0, Math.ceil((resetTime.getTime() - Date.now()) / 1000));
    return { allowed: !(totalHits > limit), waitSeconds };
  };
}
