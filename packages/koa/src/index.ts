// Includes the core's API, so that an app installs and imports one package.
export * from '@rollgate/core';
export type { MessageFormats, RequestEvent, SettleRequestOptions, WarningCode } from '@rollgate/http';
export { createClientKey, settle } from '@rollgate/http';
export { type RateLimitMiddleware, type RateLimitOptions, rateLimit } from './rate-limit.js';
