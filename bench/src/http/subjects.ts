/** The frameworks whose servers the benchmark compares. */
export const FRAMEWORKS = {
  express: { title: 'Express 5', alternative: 'express-rate-limit', package: '@rollgate/express' },
  fastify: { title: 'Fastify 5', alternative: '@fastify/rate-limit', package: '@rollgate/fastify' },
  hono: { title: 'Hono on Node', alternative: 'hono-rate-limiter', package: '@rollgate/hono' },
  koa: { title: 'Koa 3', alternative: 'koa-ratelimit', package: '@rollgate/koa' },
  nest: { title: 'Nest on Express', alternative: '@nestjs/throttler', package: '@rollgate/nestjs' },
} as const;
export type FrameworkName = keyof typeof FRAMEWORKS;

/**
 * What a server has in front of its route. That is nothing, three constant headers, the limiter behind a few handwritten
 * lines, Rollgate's adapter, or the framework's usual limiter.
 */
export type LimiterName = 'none' | 'headers' | 'by hand' | 'rollgate' | 'alternative';

/** Limiters for Express and Fastify that keep their state in Redis. */
export type RedisLimiterName = 'rollgate on Redis' | 'alternative on Redis';

export type AnyLimiterName = LimiterName | RedisLimiterName;

export const HOUR_MS = 3_600_000;
export const BODY = { hello: 'world' };

export type Header = readonly [name: string, value: string];

/** The usual headers of a decision. */
export function toHeaders(
  { limit, remaining, resetMs }: { readonly limit: number; readonly remaining: number; readonly resetMs: number },
  sinceMs: number,
): readonly Header[] {
  return [
    ['x-ratelimit-limit', String(limit)],
    ['x-ratelimit-remaining', String(remaining)],
    ['x-ratelimit-reset', String(Math.ceil((sinceMs + resetMs) / 1000))],
  ];
}

/** Headers as long as those of a limiter. */
export function constantHeaders(limit: number, sinceMs: number): readonly Header[] {
  return toHeaders({ limit, remaining: limit - 1, resetMs: HOUR_MS }, sinceMs);
}
