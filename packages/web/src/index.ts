// Includes the core's API, so that an app installs and imports one package.
export * from '@rollgate/core';
export type {
  ForwardedAddressOptions,
  MessageFormats,
  RateLimitResult,
  RequestEvent,
  SettleRequestOptions,
  WarningCode,
} from '@rollgate/http';
export { createClientKey, settle } from '@rollgate/http';
export type { BunServer, DenoInfo } from './addresses.js';
export { bunAddress, cloudflareAddress, denoAddress, forwardedAddress, vercelAddress } from './addresses.js';
export type { RateLimitOptions } from './options.js';
export { type Handler, type RateLimitMiddleware, rateLimit } from './rate-limit.js';
