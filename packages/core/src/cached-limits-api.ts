// The entry point `@rollgate/core/cached-limits`: limits of customers, from where the app keeps them.
export {
  type CachedLimits,
  type CachedLimitsOptions,
  cachedLimits,
  type LimitsFailure,
} from './cached-limits/cached-limits.js';
