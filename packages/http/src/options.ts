import type {
  Awaitable,
  Decision,
  Duration,
  Key,
  Limits,
  NameOf,
  OnStoreError,
  RollingWindowOptions,
  Store,
} from '@rollgate/core';
import type { Headers, ResetUnit } from './header-options.js';
import type { WarningCode } from './warnings.js';

/** A value, or a function that tells it for a request. */
export type ForRequest<Request, Value> = Value | ((request: Request) => Awaitable<Value>);

/**
 * What every adapter takes beside its limits. `Request` and `Response` are the framework's. What a function of these
 * throws or rejects with goes to the framework's error handling, and so does the request when one takes longer than
 * `timeout` or returns what makes no sense.
 */
export interface CommonOptions<Request, Given extends Limits = Limits, Response = never> {
  /**
   * Whom a request counts for: one key, or one for each limit. Default: the client's address as the framework resolves
   * it, IPv6 cut to its first `ipv6Prefix` bits.
   */
  key?: ((request: Request) => Awaitable<Key<NameOf<Given>>>) | undefined;
  /** The bits of an IPv6 address that tell one caller from another, 1 to 128; default 56. An error together with `key`. */
  ipv6Prefix?: number | undefined;
  /** Units that a request takes, a positive safe integer; default 1. */
  cost?: ForRequest<Request, number> | undefined;
  /** Whether to let a request pass uncounted. */
  skip?: ((request: Request) => Awaitable<boolean>) | undefined;
  /** Addresses and networks (`'10.0.0.0/8'`) whose requests pass uncounted; `false`, the default, for none. */
  allowList?: readonly string[] | false | undefined;
  /** Gives back what a request took when its answer is a success: count failures only, such as wrong passwords. */
  skipSuccessfulRequests?: boolean | undefined;
  /**
   * Refunds a request whose response is not a success; default `false`. Requests that `countRejected` has charged while they
   * were rejected keep that charge, because a rejected request is never refunded.
   */
  skipFailedRequests?: boolean | undefined;
  /**
   * Refunds a request whose client disconnects before the whole response is sent; default `false`. Such a request counts as
   * neither successful nor failed. With `true`, a client can disconnect on purpose and is then not limited at all, while
   * the handlers still run.
   */
  skipAbortedRequests?: boolean | undefined;
  /** Whether an answer is a success; default: its status is below 400. */
  requestWasSuccessful?: ((request: Request, response: Response) => Awaitable<boolean>) | undefined;
  /** Called for each refused request, before it is answered; also with `dryRun`. */
  onLimited?: ((request: Request, decision: Decision<NameOf<Given>>) => Awaitable<void>) | undefined;
  /** Decides, counts and tells of it, but refuses, holds and writes nothing: to see what limits would do. Default `false`. */
  dryRun?: boolean | undefined;
  /** Where the keys' state is kept; default a `MemoryStore` of its own. */
  store?: Store | undefined;
  /** Keeps the keys of limiters on one store apart; default `'rollgate'`. (Fastify's own `prefix` takes no `undefined`.) */
  prefix?: string;
  /** How long `store`, or a function of these options, may take to answer; milliseconds or text. Default 500 ms. */
  timeout?: Duration | undefined;
  /**
   * What answers when `store` fails or is late: `'fallback'` decides by the same limits in this process's memory,
   * `'allow'` lets everything through without headers, because nothing is known then, `'deny'` nothing, and `'throw'` hands the error to the framework. Default
   * `'fallback'`.
   */
  onStoreError?: OnStoreError | undefined;
  /**
   * Which header fields tell the decision: `'x-ratelimit'`, the fields `RateLimit` and `RateLimit-Policy` of
   * `'draft-11'`, `'all'` of them or `'none'`. `Retry-After` is sent in any case. Default `'x-ratelimit'`.
   */
  headers?: Headers | undefined;
  /** Whether `X-RateLimit-Reset` is the epoch second of the reset or the seconds until it; default as the framework's users know it. */
  resetUnit?: ResetUnit | undefined;
  /** Whether scripts of other origins may read the fields: names them in `Access-Control-Expose-Headers`. Default `false`. */
  exposeHeaders?: boolean | undefined;
  /** The status of a refusal, 400 to 599; default 429. */
  statusCode?: number | undefined;
  /**
   * The body of a rejected response instead of the usual text. An object is sent as JSON, as it is. An `Error` goes to the
   * framework's error handling, with `statusCode` as the response's status unless the error has a status of its own.
   */
  message?:
    | string
    | object
    | ((request: Request, decision: Decision<NameOf<Given>>) => Awaitable<string | object>)
    | undefined;
  /** Whether a refusal is told as problem details (RFC 9457); a `message` that is an object adds its members. Default `false`. */
  problem?: boolean | undefined;
  /** The warnings that are not to be given. */
  silence?: readonly WarningCode[] | undefined;
}

/** The numbers of one rolling window; `limit` and `window` as values or for a request. */
export interface WindowOptions<Request> extends Omit<RollingWindowOptions, 'limit' | 'window'> {
  /** Units allowed in any `window`. */
  limit: ForRequest<Request, number>;
  /** Milliseconds or text such as `'1m'`. */
  window: ForRequest<Request, Duration>;
}

/** One rolling window by its numbers, or limits of any kind: plans and tenants have theirs by a function of the request. */
export type LimitOptions<Request, Given extends Limits = Limits> =
  | (WindowOptions<Request> & { limits?: undefined })
  | ({ limits: ForRequest<Request, Given> } & { [Option in keyof RollingWindowOptions]?: undefined });

/** All options that adapters have in common. */
export type HttpOptions<Request, Given extends Limits = Limits, Response = never> = CommonOptions<
  Request,
  Given,
  Response
> &
  LimitOptions<Request, Given>;
