export * from '@rollgate/http/app';
export {
  bunAddress,
  cloudflareAddress,
  denoAddress,
  forwardedAddress,
  nodeAddress,
  vercelAddress,
} from './addresses.js';
export { type RateLimitMiddleware, type RateLimitOptions, rateLimit } from './rate-limit.js';
