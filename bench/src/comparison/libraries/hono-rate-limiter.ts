import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { MemoryStore, RedisStore, rateLimiter, type Store } from 'hono-rate-limiter';
import type { Redis } from 'ioredis';
import type { Library, Limiter, Rule } from '../library.js';
import { toOutcome } from '../responses.js';
import { listen } from '../servers.js';

/** The header from which its documentation takes the key. */
const KEY_HEADER = 'x-forwarded-for';

export const honoRateLimiter: Library = {
  inMemory: (rule) => createLimiter([[rule, new MemoryStore()]]),

  combined(first, second) {
    return createLimiter([
      [first, new MemoryStore()],
      [second, new MemoryStore()],
    ]);
  },

  inRedis: (rule, redis) => createLimiter([[rule, new RedisStore({ client: toClient(redis.connect()) })]]),

  serve(rule) {
    const app = createApp([[rule, new MemoryStore()]]);
    return listen(createAdaptorServer({ fetch: app.fetch }) as Server);
  },
};

type Counted = readonly [rule: Rule, store: Store];

function createApp(counted: readonly Counted[]): Hono {
  const app = new Hono();
  app.onError((error) => {
    throw error;
  });
  const keyGenerator = (context: Context) => context.req.header(KEY_HEADER) ?? '';
  for (const [{ limit, windowMs }, store] of counted) {
    app.use(rateLimiter({ limit, windowMs, store, keyGenerator }) as MiddlewareHandler);
  }
  app.get('/', (context) => context.text('hello'));
  return app;
}

function createLimiter(counted: readonly Counted[]): Limiter {
  const app = createApp(counted);
  const stores = counted.map(([, store]) => store);
  return {
    async check(key) {
      const response = await app.request('/', { headers: { [KEY_HEADER]: key } });
      const outcome = toOutcome(response.status, response.headers.get('retry-after'));
      return { ...outcome, refund: () => Promise.all(stores.map((store) => store.decrement(key))) };
    },
    reset: (key) => Promise.all(stores.map((store) => store.resetKey(key))),
  };
}

/** Its store expects the commands as the client of Upstash has them. */
function toClient(redis: Redis): ConstructorParameters<typeof RedisStore>[0]['client'] {
  return {
    scriptLoad: (script) => redis.script('LOAD', script) as Promise<string>,
    evalsha: (sha, keys, args) => redis.evalsha(sha, keys.length, ...keys, ...(args as string[])) as Promise<never>,
    decr: (key) => redis.decr(key),
    del: (key) => redis.del(key),
  };
}
