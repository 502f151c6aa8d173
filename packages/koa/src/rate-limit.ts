import type { Decision, Limits, MissingNameOf, NameOf, RateLimiter } from '@rollgate/core';
import { validateOptionalFunction } from '@rollgate/core/store';
import {
  type Awaitable,
  connectionOf,
  type Framework,
  type HasLimits,
  HttpLimiter,
  type HttpOptions,
  type LimitSource,
  renderRejection,
} from '@rollgate/http';
import type { Context, Middleware } from 'koa';
import { keepDecisionHeaders, keepRejectionHeaders } from './keep-headers.js';

/** How the limiter reads Koa's requests and changes its responses. A context is both. */
const KOA: Framework<Context, Context> = {
  name: 'rateLimit',
  ownOptions: ['address', 'handler'],
  resetUnit: 'epoch',
  getClientAddress: (ctx) => ctx.ip,
  getRequestHeader: (ctx, name) => ctx.req.headers[name],
  getConnection: ({ app, req, request }) =>
    connectionOf(request, req.socket.remoteAddress, (probe) => ({ app, req: probe })),
  isDisconnected: (ctx) => ctx.req.socket.destroyed,
  getSettledRequest: (ctx) => ctx.req,
  getNodeResponse: (ctx) => ctx.res,
};

declare module 'koa' {
  interface ExtendableContext {
    /** The decision of the rate limiter about this request. With several limiters, the last one's. */
    rateLimit?: Decision;
  }
}

/** The options of {@link rateLimit}: the settings of one rolling window or `limits`, and the options of all adapters. */
export type RateLimitOptions<Given extends Limits = Limits> = HttpOptions<Context, Given, Context> & {
  /**
   * Returns the client's address, for example `cloudflareAddress`.
   *
   * @defaultValue `ctx.ip`, which depends on the app's settings `proxy` and `maxIpsCount`
   */
  address?: ((ctx: Context) => string | undefined) | undefined;
  /**
   * Sends the response to a rejected request instead of the default 429. The status and the headers are already set. Not
   * called when the response has started before the limiter ran, because Rollgate then ends it.
   */
  handler?: ((ctx: Context, decision: Decision<NameOf<Given>, MissingNameOf<Given>>) => Awaitable<unknown>) | undefined;
};

/** The middleware, with its limiter to peek or reset a key. */
export interface RateLimitMiddleware<Given extends Limits = Limits, HasLimits extends boolean = boolean> {
  /**
   * Limits a request.
   *
   * @returns A promise that resolves with what `next` returns or after the rejection was set, and rejects with what they throw.
   */
  (...given: Parameters<Middleware>): Promise<void>;
  /** Decides the requests, and can peek or reset their keys. */
  readonly limiter: RateLimiter<Given, HasLimits>;
}

/**
 * Creates a middleware for Koa 2 and 3. It puts the decision on `ctx.rateLimit` and sets the `X-RateLimit-*` headers. A
 * rejected request gets a 429 response with an exact `Retry-After`.
 *
 * With a queue such as `leakyBucket`, the middleware delays a request until its start. If the client disconnects before, it
 * drops the request and refunds it.
 *
 * @throws TypeError, RangeError with the name of the invalid option.
 * @example
 * ```ts
 * import { rateLimit } from '@rollgate/koa';
 * import Koa from 'koa';
 *
 * const app = new Koa();
 * app.use(rateLimit({ limit: 100, window: '1m' }));
 * ```
 */
export function rateLimit<Given extends Limits, Source = unknown>(
  options: RateLimitOptions<Given> & LimitSource<Source>,
): RateLimitMiddleware<Given, HasLimits<Source>> {
  const { handler } = (options ?? {}) as RateLimitOptions;
  validateOptionalFunction('handler', handler);

  const httpLimiter: HttpLimiter<Context, Context> = new HttpLimiter(KOA, options as unknown as RateLimitOptions, {
    attachDecision: (ctx, decision) => {
      ctx.rateLimit = decision;
      ctx.onerror = keepDecisionHeaders;
    },
    hasHandler: handler !== undefined,
    // The middleware around this one must not wait forever.
    settlesDropped: true,
    sendRejection(ctx, _response, next, decision, rejection) {
      ctx.status = rejection.status;
      if (handler !== undefined) {
        return httpLimiter.callHandler(ctx, rejection, () => handler(ctx, decision), createOnFailure(ctx));
      }
      if ('error' in rejection) {
        ctx.onerror = keepRejectionHeaders;
        return next(rejection.error);
      }
      const { type, body } = renderRejection(rejection, ctx.req.headers.accept);
      ctx.set('Content-Type', type);
      ctx.body = body;
      return undefined;
    },
  });

  const rateLimitMiddleware = (...[ctx, next]: Parameters<Middleware>) => {
    let isLater = false;
    const proceed = (error?: Error) => {
      if (error !== undefined) return Promise.reject(error);
      // A client that has disconnected during the decision needs no handler.
      return isLater && KOA.isDisconnected(ctx) ? undefined : next();
    };
    try {
      const result = httpLimiter.run(ctx, ctx, proceed);
      isLater = true;
      return Promise.resolve(result) as Promise<void>;
    } catch (thrown) {
      return Promise.reject(thrown);
    }
  };

  return Object.assign(rateLimitMiddleware, { limiter: httpLimiter.limiter as never });
}

/** Creates the function that is called when the handler of a rejection fails. */
function createOnFailure(ctx: Context) {
  return (error: Error, isWithdrawn: boolean): never => {
    if (isWithdrawn)
      ctx.status = 404; // Koa's status before anything responds.
    else ctx.onerror = keepRejectionHeaders;
    throw error;
  };
}
