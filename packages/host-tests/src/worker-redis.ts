// A worker whose limit is in Redis, by HTTP.
import { RedisStore } from '@rollgate/redis';
import { type RateLimit, rateLimit } from '@rollgate/web';
import { Redis } from '@upstash/redis/cloudflare';

interface Env {
  readonly URL: string;
  readonly TOKEN: string;
}

let limit: RateLimit<Env> | undefined;

function createLimit({ URL: url, TOKEN: token }: Env): RateLimit<Env> {
  const store = new RedisStore({ client: new Redis({ url, token, enableTelemetry: false }) });
  return rateLimit({ limit: 5, window: '1h', store, key: (request: Request) => new URL(request.url).pathname });
}

export default {
  fetch(request: Request, env: Env): Promise<Response> {
    limit ??= createLimit(env);
    return limit(() => new Response('hello'))(request, env);
  },
};
