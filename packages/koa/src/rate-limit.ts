import type { Decision, Limits, MissingNameOf, NameOf, RateLimiter } from '@rollgate/core';
import { validateOptionalFunction } from '@rollgate/core/store';
import { type Awaitable, HttpLimiter, type HttpOptions, renderRejection } from '@rollgate/http';
import type { Context, Middleware, Next } from 'koa';
import { keepDecisionHeaders, keepRejectionHeaders } from './keep-headers.js';
import { KOA } from './koa-framework.js';

declare module 'koa' {
  interface ExtendableContext {
    /** The decision of the rate limiter about this request. With several limiters, the last one's. */
    rateLimit?: Decision;
  }
}

/** The options of {@link rateLimit}: the settings of one rolling window or `limits`, and the options of all adapters. */
export type RateLimitOptions<Given extends Limits = Limits> = HttpOptions<Context, Given, Context> & {
  /**
   * Sends the response to a rejected request instead of the default 429. The status and the headers are already set. Not
   * called when the response has started before the limiter ran, because Rollgate then ends it.
   */
  handler?: ((ctx: Context, decision: Decision<NameOf<Given>, MissingNameOf<Given>>) => Awaitable<unknown>) | undefined;
};

/** The middleware, with its limiter to peek or reset a key. */
export type RateLimitMiddleware<Given extends Limits = Limits> = Middleware & {
  /** Decides the requests, and can peek or reset their keys. */
  readonly limiter: RateLimiter<Given>;
};

/** Continues, fails, or ends the request with the response that the promise completes. Called once. */
type Conclude = (error?: Error, rejection?: Promise<void>) => void;

/**
 * Creates a middleware for Koa 2 and 3. It puts the decision on `ctx.rateLimit` and sets the `X-RateLimit-*` headers. A
 * rejected request gets a 429 response with an exact `Retry-After`.
 *
 * With a queue such as `leakyBucket`, the middleware delays a request until its start. If the client disconnects before the
 * decision or the start, it drops the request and refunds it.
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
export function rateLimit<Given extends Limits>(options: RateLimitOptions<Given>): RateLimitMiddleware<Given> {
  const { handler } = (options ?? {}) as RateLimitOptions;
  validateOptionalFunction('handler', handler);

  const httpLimiter: HttpLimiter<Context, Context> = new HttpLimiter(KOA, options as unknown as RateLimitOptions, {
    attachDecision(ctx, decision) {
      ctx.rateLimit = decision;
      ctx.onerror = keepDecisionHeaders;
    },
    hasHandler: handler !== undefined,
    sendRejection(ctx, _response, conclude: Conclude, decision, rejection) {
      ctx.status = rejection.status;
      if (handler !== undefined) {
        conclude(
          undefined,
          httpLimiter.callHandler(ctx, rejection, () => handler(ctx, decision), createOnFailure(ctx)),
        );
      } else if ('error' in rejection) {
        ctx.onerror = keepRejectionHeaders;
        conclude(rejection.error);
      } else {
        const { type, body } = renderRejection(rejection, ctx.req.headers.accept);
        ctx.set('Content-Type', type);
        ctx.body = body;
        conclude(undefined, Promise.resolve());
      }
    },
  });
  return Object.assign(createMiddleware(httpLimiter), {
    limiter: httpLimiter.limiter as unknown as RateLimiter<Given>,
  });
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

function createMiddleware(httpLimiter: HttpLimiter<Context, Context>): Middleware {
  return function rateLimitMiddleware(ctx: Context, next: Next): Promise<void> {
    let outcome: Promise<void> | undefined;
    let onConclusion: Conclude = (error, rejection) => {
      outcome = conclude(next, error, rejection);
    };
    httpLimiter.run(ctx, ctx, (error?: Error, rejection?: Promise<void>) => onConclusion(error, rejection));
    // A store in memory has decided already. The promise of `next` then serves as the middleware's.
    if (outcome !== undefined) return outcome;
    return new Promise((resolve) => {
      // A request whose client disconnects before the decision is dropped. The middleware around this one must not wait
      // forever, and once it has continued, nothing may run inside it.
      const drop = () => {
        onConclusion = (error, rejection) => {
          if (error !== undefined) ctx.onerror(error);
          rejection?.catch((late) => ctx.onerror(late));
        };
        resolve();
      };
      onConclusion = (error, rejection) => {
        ctx.res.off('close', drop);
        resolve(conclude(next, error, rejection));
      };
      if (KOA.isDisconnected(ctx)) drop();
      else ctx.res.once('close', drop);
    });
  };
}

function conclude(next: Next, error: Error | undefined, rejection: Promise<void> | undefined): Promise<void> {
  return error === undefined ? (rejection ?? Promise.resolve(next())) : Promise.reject(error);
}
