// A worker whose limit is in Redis, by HTTP.
import { RedisStore } from '@rollgate/redis';
import { concurrency, type RateLimitMiddleware, rateLimit } from '@rollgate/web';
import { Redis } from '@upstash/redis/cloudflare';

interface Env {
  readonly URL: string;
  readonly TOKEN: string;
}

type Limits = Record<'shared' | 'outage' | 'slots' | 'refunds', RateLimitMiddleware<Env>>;

let limits: Limits | undefined;

function createLimits({ URL: url, TOKEN: token }: Env): Limits {
  const client = new Redis({ url, token, enableTelemetry: false });
  const key = (request: Request) => new URL(request.url).pathname;
  const options = { limit: 5, window: '1h', key } as const;
  // On a busy machine, Redis must have enough time to decide.
  const shared = { store: new RedisStore({ client }), timeout: '1m' } as const;
  return {
    shared: rateLimit<Env>({ ...options, ...shared, prefix: 'shared' }),
    outage: rateLimit<Env>({ ...options, store: new RedisStore({ client }) }),
    slots: rateLimit<Env>({ limits: concurrency({ limit: 1, lease: '1h' }), key, ...shared, prefix: 'slots' }),
    refunds: rateLimit<Env>({
      ...options,
      limit: 1,
      skipSuccessfulRequests: true,
      skipFailedRequests: true,
      ...shared,
      prefix: 'refunds',
    }),
  };
}

/** Responds by the second part of the path. */
function respond(request: Request): Response {
  const behavior = new URL(request.url).pathname.split('/')[2];
  if (behavior === 'throw') throw new Error('The handler failed');
  return new Response(behavior === 'empty' ? null : 'hello');
}

export default {
  async fetch(request: Request, env: Env, context: unknown): Promise<Response> {
    limits ??= createLimits(env);
    const name = new URL(request.url).pathname.split('/')[1] as keyof Limits;
    try {
      return await limits[name](respond)(request, env, context);
    } catch {
      return new Response('Internal Server Error', { status: 500 });
    }
  },
};
