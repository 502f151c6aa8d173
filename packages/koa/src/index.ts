// Includes the core's API, so that an app installs and imports one package.
export * from '@rollgate/core';
export type {
  ForwardedAddressOptions,
  MessageFormats,
  RequestEvent,
  SettleRequestOptions,
  WarningCode,
} from '@rollgate/http';
export {
  cloudflareAddress,
  createClientKey,
  forwardedAddress,
  settle,
  vercelAddress,
} from '@rollgate/http';
export { type RateLimitMiddleware, type RateLimitOptions, rateLimit } from './rate-limit.js';
