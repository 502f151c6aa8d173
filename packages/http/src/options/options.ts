import type {
  Awaitable,
  Cost,
  Decision,
  Duration,
  Key,
  Limits,
  LimitsFrom,
  MissingNameOf,
  NameOf,
  OnStoreError,
  RollingWindow,
  RollingWindowOptions,
  Store,
} from '@rollgate/core';
import type { RequestKey } from '../client/request-key.js';
import type { Headers } from '../headers/rate-limit-headers.js';
import type { ResetUnit } from '../host/host.js';
import type { MessageFormats } from '../rejection/message-option.js';
import type { WarningCode } from '../warnings/warnings.js';

/** A value, or a function that returns the value for a request. */
export type ForRequest<Request, Value> = Value | ((request: Request) => Awaitable<Value>);

/** A function of a rejected request and its decision. */
export type ForRejection<Request, Given extends Limits, Value> = (
  request: Request,
  decision: Decision<NameOf<Given>, MissingNameOf<Given>>,
) => Awaitable<Value>;

/** A function that is called with a request, its decision and what it counts for, as the methods of the limiter take it. */
export type DecisionListener<Request, Given extends Limits> = (
  request: Request,
  decision: Decision<NameOf<Given>, MissingNameOf<Given>>,
  key: Key<NameOf<Given>>,
) => Awaitable<unknown>;

/**
 * The options of every adapter, without its limits. `Request` and `Response` are the framework's types.
 *
 * If an option function throws, rejects, takes longer than `timeout` or returns an invalid value, the framework's error
 * handler gets the error. With `dryRun`, and for `requestWasSuccessful` and `onExceeded`, the error becomes a process warning instead.
 */
export interface CommonOptions<Request, Given extends Limits = Limits, Response = never> {
  /**
   * Returns the key that a request counts for, such as the ID of its user, or one key for each limit. By default, and where it
   * returns `undefined` or `null`, the key is the client's address as the framework resolves it, with IPv6 addresses cut to their
   * first `ipv6Prefix` bits. Such an address never equals a key that the function returns. `clientKey()` returns the address,
   * to combine it with something else. A request without an address fails then.
   */
  key?: ((request: Request, clientKey: () => string) => Awaitable<RequestKey<NameOf<Given>>>) | undefined;
  /**
   * The bits of an IPv6 address that identify one client, 1 to 128. A `key` that does not call `clientKey` ignores it.
   *
   * @defaultValue 56
   */
  ipv6Prefix?: number | undefined;
  /**
   * The units that a request takes: a positive safe integer for all limits, or a record of safe integers by limit name. A
   * limit that the record omits has cost 1. With cost 0 in a record, the limit neither decides nor records. If `limits` is a
   * function, the limiter ignores the costs and keys of limits that the request's plan lacks.
   *
   * @defaultValue 1
   */
  cost?: ForRequest<Request, Cost<NameOf<Given>>> | undefined;
  /**
   * Whether to allow requests without counting them, such as in tests, or a function that returns it for a request.
   *
   * @defaultValue `false`
   */
  skip?: ForRequest<Request, boolean> | undefined;
  /**
   * Addresses and networks such as `'10.0.0.0/8'` whose requests are allowed without being counted; `false` for none.
   *
   * @defaultValue `false`
   */
  allowList?: readonly string[] | false | undefined;
  /**
   * Refunds a request whose response is a success. So only failures count, such as wrong passwords.
   *
   * @defaultValue `false`
   */
  skipSuccessfulRequests?: boolean | undefined;
  /**
   * Refunds a request whose response is not a success. A rejected request that `countRejected` has charged keeps that
   * charge.
   *
   * @defaultValue `false`
   */
  skipFailedRequests?: boolean | undefined;
  /**
   * Refunds a request whose client disconnects before the whole response is sent. Such a request counts as neither
   * successful nor failed. With `true`, a client can disconnect on purpose and is then not limited at all, while the
   * handlers still run.
   *
   * @defaultValue `false`
   */
  skipAbortedRequests?: boolean | undefined;
  /**
   * Returns whether a response is a success. By default, a response with a status below 400 is. Needs
   * `skipSuccessfulRequests` or `skipFailedRequests`. If the function fails, the request is not refunded, and Rollgate
   * emits a warning.
   */
  requestWasSuccessful?: ((request: Request, response: Response) => Awaitable<boolean>) | undefined;
  /**
   * Called for each rejected request before the response, even with `dryRun`.
   *
   * @param key What the request counts for, as the methods of the limiter take it.
   */
  onLimited?: DecisionListener<Request, Given> | undefined;
  /**
   * Called for each request that a limit with `enforce: false` would have rejected. The request does not wait for it.
   *
   * @param key What the request counts for, as the methods of the limiter take it.
   */
  onExceeded?: DecisionListener<Request, Given> | undefined;
  /**
   * Decides, counts and publishes, but does not reject, delay or write headers. Shows what a limit would do.
   *
   * @defaultValue `false`
   */
  dryRun?: boolean | undefined;
  /** The store that keeps the state of the keys. By default, each limiter has its own `MemoryStore`. */
  store?: Store | undefined;
  /**
   * Separates the keys of limiters on one store. Fastify's own `prefix` does not take `undefined`, so neither does this.
   *
   * @defaultValue `'rollgate'`
   */
  prefix?: string;
  /**
   * Names the limiter in events and warnings, for example as a label of metrics.
   *
   * @defaultValue the prefix. Without a prefix, `'rollgate'` for the first limiter of the process, `'rollgate-2'` for the second
   * one, and so on
   */
  name?: string | undefined;
  /**
   * How long `store`, or an option function's promise, may take: milliseconds, or text such as `'500ms'`.
   *
   * @defaultValue 500 ms
   */
  timeout?: Duration | undefined;
  /**
   * What to do when `store` fails or takes longer than `timeout`:
   *
   * - `'fallback'` decides by the same limits in this process's memory.
   * - `'allow'` allows every request, without headers because nothing is known.
   * - `'deny'` rejects every request.
   * - `'throw'` passes the error to the framework.
   *
   * @defaultValue `'fallback'`
   */
  onStoreError?: OnStoreError | undefined;
  /**
   * The headers that describe the decision: `'x-ratelimit'`, the `RateLimit` and `RateLimit-Policy` of `'draft-11'`,
   * `'all'` of them or `'none'`. A rejection always has `Retry-After` unless no retry can succeed.
   *
   * @defaultValue `'x-ratelimit'`
   */
  headers?: Headers | undefined;
  /**
   * Whether `X-RateLimit-Reset` is the epoch second of the reset, or the seconds until it.
   *
   * @defaultValue `'epoch'` for Express, Koa and `@rollgate/node`, `'delta'` for all other hosts
   */
  resetUnit?: ResetUnit | undefined;
  /**
   * Whether to name the headers in `Access-Control-Expose-Headers`, so that scripts of other origins can read them.
   *
   * @defaultValue `false`
   */
  exposeHeaders?: boolean | undefined;
  /**
   * The status of a rejection, 400 to 599, or a function that returns it.
   *
   * @defaultValue 429
   */
  statusCode?: number | ForRejection<Request, Given, number> | undefined;
  /**
   * The body of a rejected response. A string is sent as plain text, and an object as JSON, as they are. An object whose only
   * members are `html`, `text` and `json` has a body for each kind of client, which the header `Accept` selects.
   *
   * An `Error` goes to the framework's error handler, which sends `statusCode` unless the error has its own status. Rollgate
   * adds `status`, `statusCode` and `expose: true` to an error without a status. `@rollgate/web` has no error handler, so its
   * response contains the error's message.
   */
  message?:
    | string
    | MessageFormats
    | object
    | ForRejection<Request, Given, string | MessageFormats | object>
    | undefined;
  /**
   * Whether a rejected response contains problem details (RFC 9457). A `message` that is an object adds its members, and a
   * string becomes the `detail`. Clients that prefer HTML still get the `html` of a `message`.
   *
   * @defaultValue `false`
   */
  problem?: boolean | undefined;
  /** The codes of warnings not to emit. */
  silence?: readonly WarningCode[] | undefined;
}

/** The settings of one rolling window. `limit` and `window` are values or functions of the request. */
export interface WindowOptions<Request> extends Omit<RollingWindowOptions, 'limit' | 'window'> {
  /** Units allowed in any `window`. */
  limit: ForRequest<Request, number>;
  /** Milliseconds, or text such as `'1m'`. */
  window: ForRequest<Request, Duration>;
  /**
   * What this process may allow alone while the policy `'fallback'` decides, because then each process decides for itself. A
   * rolling window, or a function that derives it from the window of a request.
   *
   * @defaultValue the same window
   */
  fallbackLimits?: LimitsFrom<RollingWindow> | undefined;
}

/** The settings of one rolling window, or `limits` of any kind. A function of the request gives each plan its own. */
export type LimitOptions<Request, Given extends Limits = Limits> =
  | (WindowOptions<Request> & {
      /** Absent, because `limit` and `window` describe the only limit. */
      limits?: undefined;
    })
  | ({
      /** One limit of any algorithm, a record of named limits that decide together, or a function of the request. */
      limits: ForRequest<Request, Given>;
      /**
       * What this process may allow alone while the policy `'fallback'` decides, because then each process decides for itself.
       * Limits with the names and algorithms of `limits`, or a function that derives them from the limits of a request.
       *
       * @defaultValue the same limits
       */
      fallbackLimits?: NoInfer<LimitsFrom<Given>> | undefined;
    } & { [Option in keyof RollingWindowOptions]?: undefined });

/** The option `limits`, from which TypeScript infers `Source`. */
export interface LimitSource<Source> {
  /** The limits, in one of the forms that the option `limits` takes. */
  limits?: Source | undefined;
}

/** Whether the limiter of an adapter has limits of its own: `false` if `limits` is a function. */
export type HasLimits<Source> = [Source] extends [(request: never) => unknown] ? false : boolean;

/** All options that adapters have in common. */
export type HttpOptions<Request, Given extends Limits = Limits, Response = never> = CommonOptions<
  Request,
  Given,
  Response
> &
  LimitOptions<Request, Given>;

/** All options, none of them required, for routes that inherit those of an app. */
export type PartialOptions<Request, Given extends Limits = Limits, Response = never> = CommonOptions<
  Request,
  Given,
  Response
> & {
  [Option in Exclude<keyof WindowOptions<Request>, 'fallbackLimits'>]?: WindowOptions<Request>[Option] | undefined;
} & {
  /** One limit of any algorithm, a record of named limits that decide together, or a function of the request. */
  limits?: ForRequest<Request, Given> | undefined;
  /** Like `fallbackLimits` next to `limits`. A route with its own limits does not inherit it. */
  fallbackLimits?: NoInfer<LimitsFrom<Given>> | LimitsFrom<RollingWindow> | undefined;
};
