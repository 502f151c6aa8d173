// The entry point `@rollgate/web/better-auth`: a rate limit storage for Better Auth.
import { RateLimiter, rollingWindow } from '@rollgate/core';
import { cacheLimits, type StorageOptions, throwHidden, toKey, toLimit, toSeconds } from '@rollgate/http/drop-in';

export type { StorageOptions as RollingWindowStorageOptions } from '@rollgate/http/drop-in';

/** What Better Auth's `customStorage` must be. */
export interface RateLimitStorage {
  /**
   * Records a request if the window has room for it. `window` and `retryAfter` are in seconds, and `retryAfter` is `null`
   * for an allowed request.
   */
  consume(key: string, rule: { readonly window: number; readonly max: number }): Promise<RateLimitResult>;
}

/** What {@link RateLimitStorage.consume} resolves to. */
export interface RateLimitResult {
  /** Whether the window had room. */
  readonly allowed: boolean;
  /** In seconds. */
  readonly retryAfter: number | null;
}

/**
 * Creates a `customStorage` for the rate limits of Better Auth. Each of its limits then holds in every window, exactly and
 * atomically. A client that stays below the limit is never rejected, and the wait of a rejection is exact.
 *
 * @param options Where the storage keeps its state, by default in memory, and what decides if that fails.
 *
 * @example
 * ```ts
 * import { rollingWindowStorage } from '@rollgate/web/better-auth';
 * import { betterAuth } from 'better-auth';
 *
 * const auth = betterAuth({ rateLimit: { customStorage: rollingWindowStorage() } });
 * ```
 */
export function rollingWindowStorage(options: StorageOptions = {}): RateLimitStorage {
  const limiter = new RateLimiter({ ...options, limits: null });
  const limitsOf = cacheLimits((max: number, window: number) =>
    rollingWindow({ limit: toLimit(max), window: Math.ceil(window * 1000) }),
  );
  return {
    async consume(key, { window, max }) {
      const limits = limitsOf(max, window);
      const { allowed, retryAfterMs } = await limiter.check(toKey(key), { limits }).catch(throwHidden);
      return { allowed, retryAfter: allowed ? null : toSeconds(retryAfterMs, window * 1000) };
    },
  };
}
