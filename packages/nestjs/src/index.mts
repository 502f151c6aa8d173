// ES modules get the same instance as `require`, because one process may contain both.
export * from '@rollgate/core';
export type * from './index.js';
export {
  createClientKey,
  RateLimit,
  RateLimitDecision,
  RateLimitException,
  RateLimitGuard,
  RateLimitModule,
  SkipRateLimit,
  settle,
} from './index.js';
