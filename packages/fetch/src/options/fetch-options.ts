import type { Awaitable, Duration, Limit, RateLimiterOptions, Store } from '@rollgate/core';
import type { CallRequest, Dialect } from '../dialects/dialect.js';
import type { WaitEvent } from '../events.js';

/** The units that a call takes, by unit of the reported quotas and by name of your limits. 1 of each that it omits. */
export type CallCost = Readonly<Record<string, number>>;

/** Which calls are repeated after a rejection, and how often. */
export interface RetryOptions {
  /**
   * How often a call is sent at most, from 1 to 100.
   *
   * @defaultValue 3
   */
  attempts?: number | undefined;
  /**
   * The methods whose calls are repeated: those that HTTP defines as idempotent, all of them, or a list of methods. A call with the
   * header `Idempotency-Key` counts as idempotent.
   *
   * @defaultValue `'idempotent'`
   */
  methods?: 'idempotent' | 'all' | readonly string[] | undefined;
}

/** What all calls have in common, whether they go through `fetch` or through an undici dispatcher. */
export interface CallOptions {
  /**
   * What processes share: what the responses report, and the state of your limits.
   *
   * @defaultValue a `MemoryStore`, so this process alone obeys
   */
  store?: Store | undefined;
  /**
   * Returns the name of the account whose quota a call uses, such as a user or a tenant. Don't return a secret, because the store
   * keeps the name.
   *
   * @defaultValue the origin of the request
   */
  bucket?: ((request: CallRequest) => string) | undefined;
  /**
   * How the responses report limits. Of several dialects, the first one that reports something counts. `Retry-After` and the status
   * 429 are obeyed in any case.
   *
   * @defaultValue `[draftHeaders(), xRateLimit()]`
   */
  dialects?: readonly Dialect[] | undefined;
  /** Returns the units that a call takes, as far as you can estimate them. */
  cost?: ((request: CallRequest) => Awaitable<CallCost>) | undefined;
  /**
   * Your own limits, or text such as `'100/1m'`. A call starts when they allow it, too. Their names must not begin with `fetch.`.
   */
  limits?: Readonly<Record<string, Limit | string>> | undefined;
  /** Returns keys of your limits by their names. The key of a limit that it omits is the bucket. */
  key?: ((request: CallRequest) => Readonly<Record<string, string>>) | undefined;
  /** Which rejected calls are repeated. `false` returns every rejection to the caller. */
  retry?: RetryOptions | false | undefined;
  /**
   * How long a call waits at most before it is sent, over all of its attempts.
   *
   * @defaultValue 1 minute
   */
  maxWait?: Duration | undefined;
  /**
   * How long a response stops calls at most, whatever its headers contain. After that, calls start again. Also how long `settle` of
   * `createFetch` may take.
   *
   * @defaultValue 1 hour
   */
  maxBlock?: Duration | undefined;
  /**
   * How long a call counts as open after its process has died. Living processes renew it.
   *
   * @defaultValue 30 seconds
   */
  lease?: Duration | undefined;
  /** Called when a call has to wait, with the reason and the expected time. */
  onWait?: ((event: WaitEvent) => void) | undefined;
  /** Ends all waits when it is aborted, like `close`. */
  signal?: AbortSignal | undefined;
  /**
   * Separates the keys of instances that share a store.
   *
   * @defaultValue `'rollgate-fetch'`
   */
  prefix?: string | undefined;
  /** How long one call of `store` may take, as of `RateLimiter`. */
  storeTimeout?: Duration | undefined;
  /** What decides if `store` fails, as of `RateLimiter`. */
  onStoreError?: RateLimiterOptions['onStoreError'];
}

/** The options of `createFetch`. */
export interface FetchOptions extends CallOptions {
  /**
   * Returns the actual cost of a call, such as the usage in the body of its response. It gets a copy of each response that is not
   * rejected, while the caller has the response already. Until it has resolved, the call counts as open in `limits`, with its
   * estimate. The quotas that the response reports count at once.
   */
  settle?: ((response: Response, request: CallRequest) => Awaitable<CallCost>) | undefined;
  /**
   * The function that sends requests. It must send a call once, because Rollgate counts it once and repeats it by itself.
   *
   * Pass the global `fetch` if the result replaces it. Otherwise, another library that then wraps the global one would make calls
   * wait for themselves.
   *
   * @defaultValue `globalThis.fetch` at the time of the call
   */
  fetch?: typeof globalThis.fetch | undefined;
}
