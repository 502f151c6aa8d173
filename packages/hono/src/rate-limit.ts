import type { Decision, Limits, RateLimiter } from '@rollgate/core';
import { isThenable } from '@rollgate/core/store';
import {
  type HasLimits,
  type HttpOptions,
  type LimitSource,
  type RateLimitResult,
  type WebHost,
  WebLimiter,
} from '@rollgate/http';
import type { Context, Env, MiddlewareHandler, Next } from 'hono';
import { hasNodeResponseStarted, nodeHeadersOf, onNodeResponseEnd } from './node-headers.js';

declare module 'hono' {
  interface ContextVariableMap {
    /** The decision of the rate limiter about this request. With several limiters, the last one's. */
    rateLimit: Decision | undefined;
  }
}

/**
 * The options of {@link rateLimit}: the settings of one rolling window or `limits`, and the options of all adapters.
 *
 * @typeParam E The environment of the app, so that functions know its variables and bindings.
 */
export type RateLimitOptions<
  Given extends Limits = Limits,
  // biome-ignore lint/suspicious/noExplicitAny: As for Hono's `Context`, by default every variable and binding has any type.
  E extends Env = any,
> = HttpOptions<Context<E>, Given, Response> & {
  /**
   * Returns the client's address. Hono has no common way to get it, so choose the function of your platform, such as
   * `nodeAddress`. Required with `allowList`, and unless `key` identifies clients another way.
   */
  address?: ((c: Context<E>) => string | undefined) | undefined;
};

/** The middleware, with its limiter to peek or reset a key. */
export type RateLimitMiddleware<
  Given extends Limits = Limits,
  // biome-ignore lint/suspicious/noExplicitAny: See `RateLimitOptions`.
  E extends Env = any,
  HasLimits extends boolean = boolean,
> = MiddlewareHandler<E> & {
  /** Decides the requests, and can peek or reset their keys. */
  readonly limiter: RateLimiter<Given, HasLimits>;
};

const HONO: WebHost<Context> = {
  name: 'rateLimit',
  ownOptions: ['address'],
  resetUnit: 'delta',
  getRequest: (c) => c.req.raw,
  getSettledRequest: (c) => c.req,
  getRequestHeader: (c, name) => c.req.header(name),
  isDisconnected: (c) => c.req.raw.signal?.aborted ?? false,
  keepAlive(c, promise) {
    try {
      c.executionCtx.waitUntil(promise);
    } catch {
      // Hono throws on platforms without such a context, which do not need it.
    }
  },
  getEarlyHeaders: nodeHeadersOf,
  onResponseEnd: onNodeResponseEnd,
};

/**
 * Creates a middleware for Hono 4, on every platform that Hono supports. It sets the variable `rateLimit` to the decision
 * and adds the `X-RateLimit-*` headers. A rejected request gets a 429 response with an exact `Retry-After`.
 *
 * With a queue such as `leakyBucket`, the middleware delays a request until its start.
 *
 * @throws TypeError, RangeError with the name of the invalid option.
 * @example
 * ```ts
 * import { nodeAddress, rateLimit } from '@rollgate/hono';
 * import { Hono } from 'hono';
 *
 * const app = new Hono();
 * app.use(rateLimit({ limit: 100, window: '1m', address: nodeAddress }));
 * ```
 */
export function rateLimit<E extends Env, Given extends Limits = Limits, Source = unknown>(
  options: RateLimitOptions<Given, E> & LimitSource<Source>,
): RateLimitMiddleware<Given, E, HasLimits<Source>>;
export function rateLimit<Given extends Limits, Source = unknown>(
  options: RateLimitOptions<Given> & LimitSource<Source>,
  // biome-ignore lint/suspicious/noExplicitAny: See `RateLimitOptions`.
): RateLimitMiddleware<Given, any, HasLimits<Source>>;
export function rateLimit<Given extends Limits>(options: RateLimitOptions<Given>): RateLimitMiddleware<Given> {
  const limiter = new WebLimiter(HONO, options as RateLimitOptions);

  const middleware: MiddlewareHandler = (c, next) => {
    try {
      const result = limiter.check(c);
      return isThenable(result)
        ? Promise.resolve(result).then((known) => apply(known, c, next))
        : apply(result, c, next);
    } catch (error) {
      return Promise.reject(error);
    }
  };

  return Object.assign(middleware, { limiter: limiter.limiter as unknown as RateLimiter<Given> });
}

/** Rejects the request, or continues and completes its response. */
async function apply(result: RateLimitResult, c: Context, next: Next): Promise<Response | undefined> {
  c.set('rateLimit', result.decision);
  if (!result.allowed) {
    nodeHeadersOf(c)?.copied();
    if (result.error !== undefined) throw withResponse(result.error, result.response(), c);
    return result.response();
  }
  try {
    await next();
  } catch (error) {
    // Hono's error handler responds to errors, but not to other thrown values, nor to what it throws itself.
    result.fail();
    throw error;
  }
  const response = result.withHeaders(c.res);
  if (response !== c.res && !hasNodeResponseStarted(c)) {
    c.res = undefined; // Otherwise Hono would copy the headers once more.
    c.res = response;
  }
  return undefined;
}

/**
 * Prepares an error for Hono's error handler, or the app's. The context gets the headers of the rejection, because an app may
 * use one error for all requests.
 */
function withResponse(error: Error & { getResponse?: () => Response }, response: Response, c: Context): Error {
  for (const [name, value] of response.headers) if (!name.startsWith('content-')) c.res.headers.set(name, value);
  const { status } = response;
  if (Object.isExtensible(error)) error.getResponse ??= () => new Response(error.message, { status });
  return error;
}
