// Only types, for apps over Fastify: `import '@rollgate/nestjs/fastify'`. Apps over Express need not install Fastify.
import type { Decision } from '@rollgate/core';
import type {} from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The decision of the rate limiter about this request; `null` without one. With several limiters, the last one's. */
    rateLimit: Decision | null;
  }
}
