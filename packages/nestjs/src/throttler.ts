// The entry point `@rollgate/nestjs/throttler`: a storage for @nestjs/throttler.
import { block, RateLimiter, rollingWindow, StoreError } from '@rollgate/core';
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

/** The limit of the keys that are closed. */
const CLOSING = { block: block() };

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
  readonly #limitsOf = cacheLimits((limit: number, ttl: number, closes: boolean) => {
    const hits = rollingWindow({ limit: toLimit(limit), window: Math.ceil(ttl) });
    return closes ? { hits, block: block() } : { hits };
  });

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
    const closes = blockDuration > 0;
    const limits = this.#limitsOf(limit, ttl, closes);
    // The app's `generateKey` need not tell the throttlers apart.
    const ofThrottler = `${encodeURIComponent(throttlerName)} ${toKey(key)}`;
    const decision = await this.#limiter.check(ofThrottler, { limits }).catch(throwHidden);
    const { hits } = decision.limits;
    let waitMs = decision.retryAfterMs;
    if (closes && !decision.allowed && !decision.violated.includes('block')) {
      waitMs = Math.max(waitMs, blockDuration);
      await this.#close(ofThrottler, blockDuration);
    }
    return {
      totalHits: countHits(decision.allowed, hits),
      timeToExpire: toSeconds(hits.resetMs, ttl),
      isBlocked: !decision.allowed,
      timeToBlockExpire: toSeconds(waitMs, Math.max(ttl, blockDuration)),
    };
  }

  /** Closes a key. Its request is rejected already, so that a failure of the store changes nothing for it. */
  async #close(key: string, durationMs: number): Promise<void> {
    try {
      await this.#limiter.block(key, Math.ceil(durationMs), { limits: CLOSING });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
    }
  }
}
