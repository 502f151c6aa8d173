import { type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import { getOrInsert, invalidOption, refundInBackground } from '@rollgate/core/store';
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

interface Recorded {
  readonly decision: Decision;
  readonly atMs: number;
}

interface Requests {
  /** The allowed ones, from the oldest on. */
  readonly allowed: Recorded[];
  /** How many rejected ones the limiter will take back as failures. They are not recorded anywhere. */
  rejected: number;
}

/** With this many keys, a new generation starts early. Two generations of keys with one request each take 14 MB. */
const MOST_KEYS = 10_000;

/**
 * The requests of a window that a limiter may take back, by key. It names only the key. A rejected request comes
 * first, because that frees nothing. Otherwise it is the oldest one, so that the window frees no later one too early.
 *
 * Older requests cannot be refunded. They are dropped in two generations of one window each, which needs no timer. A flood
 * of keys drops them earlier.
 */
export class RecentRequests {
  #newer = new Map<string, Requests>();
  #older = new Map<string, Requests>();
  #sinceMs: number;

  /**
   * @param now Returns the time in milliseconds.
   * @param takesRejectionsBack Whether rejected requests count as failures, which are taken back.
   */
  constructor(
    private readonly windowMs: number,
    private readonly now: () => number,
    private readonly takesRejectionsBack: boolean,
  ) {
    this.#sinceMs = now();
  }

  add(key: string, decision: Decision): void {
    const atMs = this.#rotate();
    const requests = getOrInsert(this.#newer, key, () => ({ allowed: [], rejected: 0 }));
    if (decision.allowed) requests.allowed.push({ decision, atMs });
    else if (this.takesRejectionsBack) requests.rejected += 1;
  }

  /** Takes a request back. Returns its decision if there is something to refund. */
  take(key: string): Decision | undefined {
    const nowMs = this.#rotate();
    const ofKey = [this.#older.get(key), this.#newer.get(key)].filter((requests) => requests !== undefined);
    const rejected = ofKey.find((requests) => requests.rejected > 0);
    if (rejected !== undefined) {
      rejected.rejected -= 1;
      return undefined;
    }
    for (const { allowed } of ofKey) {
      // A refund of a request that has left the window would free nothing.
      while (allowed.length > 0 && nowMs - allowed[0]!.atMs >= this.windowMs) allowed.shift();
      if (allowed.length > 0) return allowed.shift()!.decision;
    }
    return undefined;
  }

  /** Forgets the requests of a key, whose state was deleted. */
  forget(key: string): void {
    this.#older.delete(key);
    this.#newer.delete(key);
  }

  /** Starts a new generation if it is time. Returns the time. */
  #rotate(): number {
    const nowMs = this.now();
    const ageMs = nowMs - this.#sinceMs;
    if (ageMs < this.windowMs && this.#newer.size < MOST_KEYS) return nowMs;
    this.#older = ageMs < 2 * this.windowMs ? this.#newer : new Map();
    this.#newer = new Map();
    this.#sinceMs = nowMs;
    return nowMs;
  }
}
