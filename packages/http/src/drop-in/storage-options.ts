import type { RateLimiterOptions } from '@rollgate/core';

/** The options of each storage for another rate limiter: those of a `RateLimiter`, without its limits. */
export type StorageOptions = Pick<RateLimiterOptions, 'store' | 'prefix' | 'timeout' | 'onStoreError'>;
