import { type Decision, RateLimiter, rollingWindow } from '@rollgate/core';
import { invalidOption } from '@rollgate/core/store';
import { cacheLimits, countHits, type StorageOptions, throwHidden, toKey, toLimit } from '@rollgate/http/drop-in';

/** What the store reads of the options of @fastify/rate-limit: those of the plugin, or of a route. */
interface PluginOptions {
  readonly continueExceeding?: boolean;
  readonly exponentialBackoff?: boolean;
  /** How many rejected requests in a window precede a ban. -1 bans nobody. */
  readonly ban?: number;
  /** Absent for the plugin itself, and empty for a hook that the app creates. */
  readonly routeInfo?: RouteInfo;
}

interface RouteInfo {
  readonly method?: string | readonly string[];
  readonly url?: string;
}

/** What @fastify/rate-limit learns about a client. */
export interface ClientUsage {
  /** The requests in the window. For a rejected one, more than the limit. */
  readonly current: number;
  /** After a rejection, the milliseconds until the next request is allowed. Otherwise, until the whole limit is available. */
  readonly ttl: number;
}

/** Gets what is known about a client, or the error of the store. */
export type UsageCallback = (error: Error | null, usage?: ClientUsage) => void;

/** A store as @fastify/rate-limit uses it. */
export interface RollingWindowStore {
  /** Records a request if the window has room for it. */
  incr(key: string, callback: UsageCallback, timeWindow: number, max: number): void;
  /** Reports what `incr` would, without a request. */
  read(key: string, callback: UsageCallback, timeWindow: number, max: number): void;
  /** Creates the store of a route. */
  child(routeOptions: object): RollingWindowStore;
}

/** The class of the stores, which the plugin constructs. */
export type RollingWindowStoreClass = new (options: object) => RollingWindowStore;

/**
 * Returns a class for the option `store` of @fastify/rate-limit. Its limits then hold in every window, exactly, instead of in
 * windows that start with a client's first request. `Retry-After` is the time until the next request is allowed.
 *
 * Each route counts alone, by its method and URL. So does each hook that the app creates with `app.rateLimit` or `app.createRateLimit`, by its number: processes
 * that share a store must create their hooks in the same order.
 *
 * Rejected requests don't count, unless the plugin has `continueExceeding`. The plugin's `exponentialBackoff` is an error.
 *
 * @param options Where the store keeps its state, by default in memory, and what decides if that fails.
 *
 * @example
 * ```ts
 * import { rollingWindowStore } from '@rollgate/fastify/fastify-rate-limit';
 *
 * const options = { max: 100, timeWindow: '1 minute', store: rollingWindowStore() };
 * // await app.register(rateLimit, options);
 * ```
 */
export function rollingWindowStore(options: StorageOptions = {}): RollingWindowStoreClass {
  const limitsOf = cacheLimits((max: number, timeWindow: number, countRejected: boolean) =>
    rollingWindow({ limit: toLimit(max), window: Math.ceil(timeWindow), countRejected }),
  );
  const bansOf = cacheLimits((ban: number, timeWindow: number) => ({
    bans: rollingWindow({ limit: ban, window: Math.ceil(timeWindow) }),
  }));
  let hooks = 0;
  const nameOf = ({ method, url }: RouteInfo) => (url === undefined ? `hook ${++hooks}` : `${method ?? ''} ${url}`);

  return class Store implements RollingWindowStore {
    readonly #limiter: RateLimiter;
    readonly #countRejected: boolean;
    readonly #ban: number;

    constructor({ continueExceeding = false, exponentialBackoff = false, ban = -1, routeInfo }: PluginOptions) {
      if (exponentialBackoff) throw invalidOption('exponentialBackoff', 'false with this store', exponentialBackoff);
      const { prefix = 'rollgate' } = options;
      const own = routeInfo === undefined ? prefix : `${prefix} ${nameOf(routeInfo)}`;
      this.#limiter = new RateLimiter({ ...options, prefix: own, limits: null });
      this.#countRejected = continueExceeding;
      this.#ban = ban;
    }

    incr(key: string, callback: UsageCallback, timeWindow: number, max: number): void {
      this.#record(toKey(key), timeWindow, max)
        .catch(throwHidden)
        .then((usage) => callback(null, usage), callback);
    }

    read(key: string, callback: UsageCallback, timeWindow: number, max: number): void {
      this.#peek(toKey(key), timeWindow, max)
        .catch(throwHidden)
        .then((usage) => callback(null, usage), callback);
    }

    child(routeOptions: PluginOptions): RollingWindowStore {
      return new Store(routeOptions);
    }

    async #record(key: string, timeWindow: number, max: number): Promise<ClientUsage> {
      const decision = await this.#limiter.check(key, { limits: limitsOf(max, timeWindow, this.#countRejected) });
      if (decision.allowed || this.#ban <= 0 || decision.degraded === 'deny') return toUsage(decision, timeWindow);
      const bans = await this.#limiter.check(key, { limits: bansOf(this.#ban, timeWindow) });
      return { ...toUsage(decision, timeWindow), current: decision.limit + countHits(bans.allowed, bans) };
    }

    async #peek(key: string, timeWindow: number, max: number): Promise<ClientUsage> {
      const peeked = await this.#limiter.peek(key, { limits: limitsOf(max, timeWindow, this.#countRejected) });
      const { allowed, limit, remaining, resetMs } = peeked;
      if (!allowed) return toUsage(peeked, timeWindow);
      return { current: limit === Infinity ? 0 : limit - remaining, ttl: resetMs };
    }
  };
}

function toUsage(decision: Decision, windowMs: number): ClientUsage {
  const { allowed, resetMs, retryAfterMs } = decision;
  return { current: countHits(allowed, decision), ttl: allowed ? resetMs : Math.min(retryAfterMs, windowMs) };
}
