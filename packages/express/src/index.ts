export * from '@rollgate/http/app';
export { type RateLimitMiddleware, type RateLimitOptions, rateLimit } from './rate-limit.js';
