export * from '@rollgate/http/app';
export type { Handler, RateLimitOptions, Request, Response } from './options.js';
export { type RateLimitMiddleware, rateLimit } from './rate-limit.js';
