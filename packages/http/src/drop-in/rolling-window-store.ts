import { type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import { invalidOption, refundInBackground } from '@rollgate/core/store';
import { RecentRequests } from './recent-requests.js';
import { countHits, type StorageOptions, throwHidden, toKey, toLimit } from './storage.js';

/** What a {@link RollingWindowStore} reads of the options of a limiter. */
export interface WindowOptions {
  /** The most requests in any window: an integer, or text such as `'100'`. The store cannot hold a function. */
  readonly limit: unknown;
  /** The window's length in milliseconds. */
  readonly windowMs: number;
  /** Whether the limiter takes back requests that failed. */
  readonly skipFailedRequests?: boolean;
  /** Whether the limiter takes back requests that succeeded. */
  readonly skipSuccessfulRequests?: boolean;
}

/** What a limiter learns about a client. */
export interface ClientInfo {
  /** The requests in the window. For a rejected request, one more than the limit. */
  readonly totalHits: number;
  /** After a rejection, when the next request is allowed. Otherwise, when the whole limit is available again. */
  readonly resetTime: Date;
}

/**
 * A store for express-rate-limit and hono-rate-limiter. Their limit then holds in every window, exactly, instead of in
 * windows that start with a client's first request. `Retry-After` is the time until the next request is allowed. Rejected
 * requests don't count.
 *
 * `requestWasSuccessful` must not return `true` for a rejection.
 *
 * Each limiter needs an instance. Instances may share a store of Rollgate, each with its own `prefix`.
 *
 * @example
 * ```ts
 * import { RollingWindowStore } from '@rollgate/express/express-rate-limit';
 * import express from 'express';
 * import { rateLimit } from 'express-rate-limit';
 *
 * const app = express();
 * app.use(rateLimit({ windowMs: 60_000, limit: 100, store: new RollingWindowStore() }));
 * ```
 */
export class RollingWindowStore {
  /** Whether no other process or instance sees the keys. express-rate-limit warns about a key that it counts twice. */
  readonly localKeys: boolean;
  /** The prefix of the keys, for the same warning. */
  readonly prefix: string;
  readonly #options: StorageOptions;
  #given: WindowOptions | undefined;
  #limiter: RateLimiter | undefined;
  /** Absent if the limiter never calls `decrement`. */
  #recent: RecentRequests | undefined;

  /** @param options Where the store keeps its state, by default in memory, and what decides if that fails. */
  constructor(options: StorageOptions = {}) {
    this.#options = options;
    this.localKeys = options.store === undefined;
    this.prefix = options.prefix ?? 'rollgate';
  }

  /**
   * Takes the limit and the window from the limiter, which calls it once.
   *
   * @throws TypeError if `limit` is a function, or another limiter uses this instance
   * @throws RangeError if `limit` or `windowMs` is out of range
   */
  init(options: WindowOptions): void {
    if (this.#given !== undefined) {
      throw invalidOption('store', 'a RollingWindowStore that no other limiter uses', this);
    }
    this.#given = options;
    const { windowMs, skipFailedRequests = false, skipSuccessfulRequests = false } = options;
    const { clock = performance } = this.#open();
    if (skipFailedRequests || skipSuccessfulRequests) {
      this.#recent = new RecentRequests(windowMs, () => clock.now(), skipFailedRequests);
    }
  }

  /**
   * Records a request if the window has room for it.
   *
   * @throws TypeError | RangeError for the same options as `init`, because express-rate-limit only logs errors of `init`
   * @throws StoreError with `status` 503 if the store of Rollgate fails and `onStoreError` is `'throw'`, which is its default
   */
  async increment(key: string): Promise<ClientInfo> {
    const decision = await this.#open().check(toKey(key)).catch(throwHidden);
    this.#recent?.add(toKey(key), decision);
    return toClientInfo(decision, this.#given!);
  }

  /**
   * Takes back a client's request, for `skipFailedRequests` and `skipSuccessfulRequests`. It never rejects, because the response is
   * made already: if the store of Rollgate fails, the request stays counted.
   */
  async decrement(key: string): Promise<void> {
    const decision = this.#recent?.take(toKey(key));
    if (decision !== undefined) await refundInBackground(this.#open(), decision);
  }

  /**
   * Returns what the limiter knows about a client, without a request.
   *
   * @throws StoreError like `increment`
   */
  async get(key: string): Promise<ClientInfo> {
    const { limit, remaining, resetMs } = await this.#open().peek(toKey(key)).catch(throwHidden);
    const waitMs = Math.min(resetMs, this.#given!.windowMs);
    return { totalHits: limit === Infinity ? 0 : limit - remaining, resetTime: new Date(Date.now() + waitMs) };
  }

  /**
   * Deletes the requests of a client.
   *
   * @throws StoreError with `status` 503 if the store of Rollgate fails, whatever `onStoreError` is
   */
  async resetKey(key: string): Promise<void> {
    this.#recent?.forget(toKey(key));
    await this.#open().reset(toKey(key)).catch(throwHidden);
  }

  #open(): RateLimiter {
    if (this.#limiter !== undefined) return this.#limiter;
    if (this.#given === undefined) throw invalidOption('store', 'part of a limiter', this);
    const limits = rollingWindow({ limit: toLimit(this.#given.limit), window: this.#given.windowMs });
    this.#limiter = new RateLimiter({ ...this.#options, limits });
    return this.#limiter;
  }
}

function toClientInfo(decision: Decision, { windowMs }: WindowOptions): ClientInfo {
  const { allowed, resetMs, retryAfterMs } = decision;
  return {
    totalHits: countHits(allowed, decision),
    // A date has whole milliseconds, and an earlier one would be too early.
    resetTime: new Date(Date.now() + Math.ceil(allowed ? resetMs : Math.min(retryAfterMs, windowMs))),
  };
}
