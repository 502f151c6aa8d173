// The entry point `@rollgate/nestjs/throttler`: a storage for @nestjs/throttler.
import { RateLimiter, rollingWindow } from '@rollgate/core';
import {
  cacheLimits,
  countHits,
  type StorageOptions,
  throwHidden,
  toKey,
  toLimit,
  toSeconds,
} from '@rollgate/http/drop-in';

export type { StorageOptions as RollingWindowStorageOptions } from '@rollgate/http/drop-in';

/** What the guard of @nestjs/throttler learns about a client. */
export interface StorageRecord {
  /** The requests in the window. For a rejected request, one more than the limit. */
  totalHits: number;
  /** Seconds until the whole limit is available again. */
  timeToExpire: number;
  /** Whether the request is rejected. */
  isBlocked: boolean;
  /** Seconds until the next request is allowed. 0 for an allowed request. */
  timeToBlockExpire: number;
}

/**
 * A storage for @nestjs/throttler. Its limits then hold in every window, exactly, and in all processes that share a store.
 *
 * @example
 * ```ts
 * import { ThrottlerModule } from '@nestjs/throttler';
 * import { RollingWindowStorage } from '@rollgate/nestjs/throttler';
 *
 * const throttlers = [{ ttl: 60_000, limit: 100 }];
 * const module = ThrottlerModule.forRoot({ throttlers, storage: new RollingWindowStorage() });
 * ```
 */
export class RollingWindowStorage {
  readonly #limiter: RateLimiter;
  readonly #limitsOf = cacheLimits((limit: number, ttl: number, blockDuration: number) => ({
    hits: rollingWindow({
      limit: toLimit(limit),
      window: Math.ceil(ttl),
      blockFor: blockDuration > 0 ? blockDuration : undefined,
    }),
  }));

  /** @param options Where the storage keeps its state, by default in memory, and what decides if that fails. */
  constructor(options: StorageOptions = {}) {
    this.#limiter = new RateLimiter({ ...options, limits: null });
  }

  /**
   * Records a request if the window has room for it. If it has none, closes the key for `blockDuration`. All durations are in
   * milliseconds.
   *
   * @throws StoreError with `status` 503 if the store of Rollgate fails and `onStoreError` is `'throw'`, which is its default
   */
  async increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<StorageRecord> {
    const limits = this.#limitsOf(limit, ttl, blockDuration);
    // The app's `generateKey` need not tell the throttlers apart.
    const ofThrottler = `${encodeURIComponent(throttlerName)} ${toKey(key)}`;
    const decision = await this.#limiter.check(ofThrottler, { limits }).catch(throwHidden);
    const { allowed, resetMs, retryAfterMs } = decision;
    return {
      totalHits: countHits(allowed, decision),
      timeToExpire: toSeconds(resetMs, ttl),
      isBlocked: !allowed,
      timeToBlockExpire: toSeconds(retryAfterMs, Math.max(ttl, blockDuration)),
    };
  }
}
