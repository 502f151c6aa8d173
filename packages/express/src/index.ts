export { type RateLimitMiddleware, type RateLimitOptions, rateLimit } from './rate-limit.js';
