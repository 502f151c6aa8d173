// Only types, for apps over Fastify. Apps over Express need not install it.
import type { Decision } from '@rollgate/core';
import type {} from 'fastify';

/**
 * What `import '@rollgate/nestjs/fastify'` declares as `request.rateLimit` of a request of Fastify: the decision about it, or
 * `null` without one. With several limiters, it is the last one's.
 */
type FastifyRequestDecision = Decision | null;

declare module 'fastify' {
  interface FastifyRequest {
    /** The decision of the rate limiter about this request; `null` without one. With several limiters, the last one's. */
    rateLimit: Decision | null;
  }
}

export type { FastifyRequestDecision };
