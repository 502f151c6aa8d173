// Includes the core's API, so that an app installs and imports one package.
export * from '@rollgate/core';
export {
  createClientKey,
  type ForwardedAddressOptions,
  type RateLimitResult,
  type RequestEvent,
  type SettleRequestOptions,
  settle,
  type WarningCode,
} from '@rollgate/http';
export {
  type BunServer,
  bunAddress,
  cloudflareAddress,
  type DenoInfo,
  denoAddress,
  forwardedAddress,
  vercelAddress,
} from './addresses.js';
export type { RateLimitOptions } from './options.js';
export { type Handler, type RateLimit, rateLimit } from './rate-limit.js';
