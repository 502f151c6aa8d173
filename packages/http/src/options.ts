import {
  type Awaitable,
  type Duration,
  type Key,
  type Limits,
  type NameOf,
  type OnStoreError,
  RateLimiter,
  ROLLING_WINDOW_OPTIONS,
  type RollingWindowOptions,
  rollingWindow,
  type Store,
  validate,
} from '@rollgate/core';

/** What every adapter takes beside its limits. `Request` is the framework's request. */
export interface CommonOptions<Request, Given extends Limits = Limits> {
  /**
   * Whom a request counts for: one key, or one for each limit. Default: the client's address as the framework resolves
   * it, IPv6 cut to its first `ipv6Prefix` bits. What it throws or rejects with goes to the framework's error handling.
   */
  key?: ((request: Request) => Awaitable<Key<NameOf<Given>>>) | undefined;
  /** The bits of an IPv6 address that tell one caller from another, 1 to 128; default 56. */
  ipv6Prefix?: number | undefined;
  /** Units that a request takes, a positive safe integer; default 1. */
  cost?: number | ((request: Request) => Awaitable<number>) | undefined;
  /** Whether to let a request pass uncounted. */
  skip?: ((request: Request) => Awaitable<boolean>) | undefined;
  /** Where the keys' state is kept; default a `MemoryStore` of its own. */
  store?: Store | undefined;
  /** Keeps the keys of limiters on one store apart; default `'rollgate'`. (Fastify's own `prefix` takes no `undefined`.) */
  prefix?: string;
  /** How long `store` may take to answer, at most; milliseconds or text. Default 500 ms. */
  timeout?: Duration | undefined;
  /**
   * What answers when `store` fails or is late: `'fallback'` decides by the same limits in this process's memory,
   * `'allow'` lets everything through, `'deny'` nothing, and `'throw'` hands the error to the framework. Default
   * `'fallback'`.
   */
  onStoreError?: OnStoreError | undefined;
  /** Which header fields tell the decision; `Retry-After` is sent in any case. Default `'x-ratelimit'`. */
  headers?: 'x-ratelimit' | 'none' | undefined;
  /** Whether `X-RateLimit-Reset` is the epoch second of the reset or the seconds until it; default as the framework's users know it. */
  resetUnit?: ResetUnit | undefined;
  /** The status of a refusal, 400 to 599; default 429. */
  statusCode?: number | undefined;
  /** What a refusal says in the place of the usual text; an object is sent as JSON, as it is. */
  message?: string | object | undefined;
}

/** What `X-RateLimit-Reset` counts: the seconds since 1970 at the reset, or the seconds left until it. */
export type ResetUnit = 'epoch' | 'delta';

/** One rolling window by its numbers, or limits of any kind. */
export type LimitOptions<Given extends Limits = Limits> =
  | (RollingWindowOptions & { limits?: undefined })
  | ({ limits: Given } & { [Option in keyof RollingWindowOptions]?: undefined });

/** All options that adapters have in common. */
export type HttpOptions<Request, Given extends Limits = Limits> = CommonOptions<Request, Given> & LimitOptions<Given>;

const COMMON_OPTIONS = [
  'limits',
  'key',
  'ipv6Prefix',
  'cost',
  'skip',
  'store',
  'prefix',
  'timeout',
  'onStoreError',
  'headers',
  'resetUnit',
  'statusCode',
  'message',
] as const;

/** The options with every default filled in. */
export interface Settings<Request> {
  readonly limiter: RateLimiter;
  readonly key: ((request: Request) => Awaitable<Key>) | undefined;
  readonly ipv6Prefix: number;
  readonly cost: number | ((request: Request) => Awaitable<number>);
  readonly skip: ((request: Request) => Awaitable<boolean>) | undefined;
  readonly sendsFields: boolean;
  readonly resetUnit: ResetUnit;
  readonly statusCode: number;
  readonly messageText: string | undefined;
  readonly messageJson: string | undefined;
}

/**
 * Checks an adapter's options, once, and fills in the defaults.
 *
 * @param ownOptions The options that only this adapter has; it checks their values itself.
 * @throws TypeError, RangeError naming the option that is wrong.
 */
export function toSettings<Request>(
  subject: string,
  options: HttpOptions<Request>,
  ownOptions: readonly string[],
  usualResetUnit: ResetUnit,
): Settings<Request> {
  validate.knownOptions(subject, options, [...ROLLING_WINDOW_OPTIONS, ...COMMON_OPTIONS, ...ownOptions]);
  const { key, ipv6Prefix = 56, cost = 1, skip, store, prefix, timeout, onStoreError = 'fallback', message } = options;
  const { headers = 'x-ratelimit', resetUnit = usualResetUnit, statusCode = 429 } = options;
  validate.optionalFunction('key', key);
  validate.optionalFunction('skip', skip);
  if (typeof cost !== 'function') validate.positiveInteger('cost', cost);
  return {
    limiter: new RateLimiter({ limits: toLimits(options), store, prefix, timeout, onStoreError }),
    key,
    ipv6Prefix: validate.integerBetween('ipv6Prefix', ipv6Prefix, 1, 128),
    cost,
    skip,
    sendsFields: validate.oneOf('headers', headers, ['x-ratelimit', 'none']) === 'x-ratelimit',
    resetUnit: validate.oneOf('resetUnit', resetUnit, ['epoch', 'delta']),
    statusCode: validate.integerBetween('statusCode', statusCode, 400, 599),
    messageText: typeof message === 'string' ? message : undefined,
    messageJson: typeof message === 'string' ? undefined : toJson(message),
  };
}

/** Once, here, where an object that cannot be sent is refused, and not for every refusal. */
function toJson(message: unknown): string | undefined {
  if (message === undefined) return undefined;
  if (typeof message !== 'object' || message === null)
    throw validate.misuse('message', 'a string or an object', message);
  try {
    return JSON.stringify(message);
  } catch (cause) {
    throw new TypeError(`Expected \`message\` to be an object that can be sent as JSON: ${String(cause)}`, { cause });
  }
}

function toLimits(options: LimitOptions): Limits {
  const given = ROLLING_WINDOW_OPTIONS.filter((name) => options[name] !== undefined);
  if (options.limits === undefined) {
    const { limit, window, minDifference, countRejected } = options;
    return rollingWindow({ limit, window, minDifference, countRejected });
  }
  if (given.length === 0) return options.limits;
  throw new TypeError(
    `Expected either \`limits\` or the numbers of one rolling window, got \`limits\` and \`${given.join('`, `')}\``,
  );
}
