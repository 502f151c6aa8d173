// A worker whose limit is in Redis, by HTTP.
import { RedisStore } from '@rollgate/redis';
import { type RateLimit, rateLimit } from '@rollgate/web';
import { Redis } from '@upstash/redis/cloudflare';

interface Env {
  readonly URL: string;
  readonly TOKEN: string;
}

type Limit = RateLimit<Env>;

let limits: { readonly shared: Limit; readonly outage: Limit } | undefined;

function createLimits({ URL: url, TOKEN: token }: Env) {
  const client = new Redis({ url, token, enableTelemetry: false });
  const options = { limit: 5, window: '1h', key: (request: Request) => new URL(request.url).pathname } as const;
  return {
    // On a busy machine, Redis must have enough time to decide.
    shared: rateLimit<Env>({ ...options, store: new RedisStore({ client }), timeout: '1m', prefix: 'shared' }),
    outage: rateLimit<Env>({ ...options, store: new RedisStore({ client }) }),
  };
}

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    limits ??= createLimits(env);
    const limit = new URL(request.url).pathname === '/shared' ? limits.shared : limits.outage;
    return limit(() => new Response('hello'))(request, env);
  },
};
