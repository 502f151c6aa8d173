import type { Decision, Limits, NameOf, RateLimiter } from '@rollgate/core';
import { isThenable, validateOptionalFunction } from '@rollgate/core/store';
import { type Awaitable, HttpLimiter, type HttpOptions, prefersText, type Rejection, toError } from '@rollgate/http';
import type { Context, Middleware, Next } from 'koa';
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
  handler?: ((ctx: Context, decision: Decision<NameOf<Given>>) => Awaitable<void>) | undefined;
};

/** The middleware, with its limiter to peek or reset a key. */
export type RateLimitMiddleware<Given extends Limits = Limits> = Middleware & {
  /** Decides the requests, and can peek or reset their keys. */
  readonly limiter: RateLimiter<Given>;
};

type Done = (error?: Error) => void;

/** Passed to `next` instead of an error when the response to a rejection is complete. */
const REJECTED = new Error('rejected');

/**
 * Creates a middleware for Koa 2 and 3. It puts the decision on `ctx.rateLimit` and sets the `X-RateLimit-*` headers. A
 * rejected request gets a 429 response with an exact `Retry-After`.
 *
 * With a queue such as `leakyBucket`, the middleware delays a request until its slot. If the client disconnects before, it
 * drops the request and frees the slot.
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
    },
    sendRejection(ctx, _response, done, decision) {
      ctx.status = httpLimiter.statusCode;
      respond(ctx, done, handler === undefined ? sendDefault(ctx, decision) : () => handler(ctx, decision));
    },
  });

  const sendDefault = (ctx: Context, decision: Decision) => () => {
    const send = (rejection: Rejection) => {
      if (!httpLimiter.endIfStarted(ctx)) sendRejection(ctx, rejection, httpLimiter.serializeBody);
    };
    const rejection = httpLimiter.createRejection(ctx, decision);
    return isThenable(rejection) ? Promise.resolve(rejection).then(send) : send(rejection);
  };

  /** Runs what sends a rejection. If it fails, the request is not rejected, and Koa's error handling gets the error. */
  const respond = (ctx: Context, done: Done, send: () => Awaitable<void>) => {
    const fail = (thrown: unknown) => {
      if (httpLimiter.endIfStarted(ctx)) return done(REJECTED);
      const error = toError(thrown);
      if (httpLimiter.withdrawRejection(ctx, error))
        ctx.status = 404; // Koa's status before anything responds.
      else keepHeaders(ctx, error);
      done(error);
    };
    try {
      const sent = send();
      if (isThenable(sent)) Promise.resolve(sent).then(() => done(REJECTED), fail);
      else done(REJECTED);
    } catch (thrown) {
      fail(thrown);
    }
  };

  function rateLimitMiddleware(ctx: Context, next: Next): Promise<void> {
    let outcome: Promise<void> | undefined;
    let settle = (given: Promise<void>): void => {
      outcome = given;
    };
    httpLimiter.run(ctx, ctx, (error) => {
      if (error === undefined) settle(Promise.resolve(next()));
      else settle(error === REJECTED ? Promise.resolve() : Promise.reject(error));
    });
    // A store in memory has decided already. The promise of `next` then serves as the middleware's.
    if (outcome !== undefined) return outcome;
    return new Promise((resolve, reject) => {
      settle = (given) => void given.then(resolve, reject);
      // A request whose client disconnects is dropped, but the middleware around this one must not wait forever.
      ctx.res.once('close', resolve);
    });
  }

  return Object.assign(rateLimitMiddleware, { limiter: httpLimiter.limiter as unknown as RateLimiter<Given> });
}

/** @throws The error of a `message` that is an error. */
function sendRejection(ctx: Context, rejection: Rejection, serializeBody: (message: string) => string): void {
  if ('error' in rejection) throw rejection.error;
  if ('json' in rejection) setBody(ctx, rejection.type, rejection.json);
  else if (prefersText(ctx.req.headers.accept)) setBody(ctx, 'text/plain; charset=utf-8', `${rejection.text}\n`);
  else setBody(ctx, 'application/json; charset=utf-8', serializeBody(rejection.text));
}

function setBody(ctx: Context, type: string, body: string): void {
  ctx.set('Content-Type', type);
  ctx.body = body;
}

/** Koa removes all headers when it responds to an error, except for those on the error. */
function keepHeaders(ctx: Context, error: Error & { headers?: object }): void {
  if (error.headers === undefined && Object.isExtensible(error)) error.headers = ctx.res.getHeaders();
}
