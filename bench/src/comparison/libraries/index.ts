import type { Library } from '../library.js';

/** The libraries in the order of the tables, with the npm packages that they consist of. */
const LIBRARIES = {
  rollgate: {
    packages: ['@rollgate/core'],
    load: async () => (await import('./rollgate.js')).rollgate,
  },
  'express-rate-limit': {
    packages: ['express-rate-limit', 'rate-limit-redis'],
    load: async () => (await import('./express-rate-limit.js')).expressRateLimit,
  },
  '@fastify/rate-limit': {
    packages: ['@fastify/rate-limit'],
    load: async () => (await import('./fastify-rate-limit.js')).fastifyRateLimit,
  },
  'hono-rate-limiter': {
    packages: ['hono-rate-limiter'],
    load: async () => (await import('./hono-rate-limiter.js')).honoRateLimiter,
  },
  '@nestjs/throttler': {
    packages: ['@nestjs/throttler'],
    load: async () => (await import('./nestjs-throttler.js')).nestjsThrottler,
  },
  'rate-limiter-flexible': {
    packages: ['rate-limiter-flexible'],
    load: async () => (await import('./rate-limiter-flexible.js')).rateLimiterFlexible,
  },
  'rolling-rate-limiter': {
    packages: ['rolling-rate-limiter'],
    load: async () => (await import('./rolling-rate-limiter.js')).rollingRateLimiter,
  },
  'sliding-window-rate-limiter': {
    packages: ['sliding-window-rate-limiter'],
    load: async () => (await import('./sliding-window-rate-limiter.js')).slidingWindowRateLimiter,
  },
  '@upstash/ratelimit': {
    packages: ['@upstash/ratelimit'],
    load: async () => (await import('./upstash-ratelimit.js')).upstashRatelimit,
  },
  limiter: {
    packages: ['limiter'],
    load: async () => (await import('./limiter.js')).limiter,
  },
} satisfies Record<string, { packages: readonly string[]; load: () => Promise<Library> }>;

export type LibraryName = keyof typeof LIBRARIES;

export const LIBRARY_NAMES = Object.keys(LIBRARIES) as LibraryName[];

export function packagesOf(name: LibraryName): readonly string[] {
  return LIBRARIES[name].packages;
}

/** Loads a library's adapter, and with it the library. */
export function loadLibrary(name: LibraryName): Promise<Library> {
  return LIBRARIES[name].load();
}
