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
export type { Handler, RateLimitOptions, Request, Response } from './options.js';
export { type RateLimitMiddleware, rateLimit } from './rate-limit.js';
