// Includes the core's API, so that an app installs and imports one package.
export * from '@rollgate/core';
export {
  createClientKey,
  type RequestEvent,
  type SettleRequestOptions,
  settle,
  type WarningCode,
} from '@rollgate/http';
export { type RateLimitMiddleware, type RateLimitOptions, rateLimit } from './rate-limit.js';
