// Includes the core's API, so that an app installs and imports one package.
export * from '@rollgate/core';
export type {
  ForwardedAddressOptions,
  MessageFormats,
  RequestEvent,
  SettleRequestOptions,
  WarningCode,
} from '@rollgate/http';
export { createClientKey, settle } from '@rollgate/http';
export {
  bunAddress,
  cloudflareAddress,
  denoAddress,
  forwardedAddress,
  nodeAddress,
  vercelAddress,
} from './addresses.js';
export { type RateLimitMiddleware, type RateLimitOptions, rateLimit } from './rate-limit.js';
