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
export { forwardedAddress } from './forwarded-address.js';
export type { Handler, RateLimitOptions, Request, Response } from './options.js';
export { type RateLimit, rateLimit } from './rate-limit.js';
