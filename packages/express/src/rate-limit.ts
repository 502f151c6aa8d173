import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Decision, Limits, MissingNameOf, NameOf, RateLimiter } from '@rollgate/core';
import { invalidOption, validateOptionalFunction, validateString } from '@rollgate/core/store';
import {
  type Awaitable,
  type HasLimits,
  HttpLimiter,
  type HttpOptions,
  type LimitSource,
  sendRejection,
  toError,
} from '@rollgate/http';
import type { NextFunction, Request, Response } from 'express';
import { EXPRESS } from './express-framework.js';

declare global {
  namespace Express {
    interface Request {
      /** The decision of the rate limiter about this request. With several limiters, the last one's. */
      rateLimit?: Decision;
    }
  }
}

/** The options of {@link rateLimit}: the settings of one rolling window or `limits`, and the options of all adapters. */
export type RateLimitOptions<Given extends Limits = Limits> = HttpOptions<Request, Given, Response> & {
  /**
   * Returns the client's address, for example `cloudflareAddress`.
   *
   * @defaultValue `request.ip`, which depends on the app's setting `trust proxy`
   */
  address?: ((request: Request) => string | undefined) | undefined;
  /**
   * Sends the response to a rejected request instead of the default 429. The status and the headers are already set. Not
   * called when the response has started before the limiter ran, because Rollgate then ends it.
   */
  handler?:
    | ((
        request: Request,
        response: Response,
        next: NextFunction,
        decision: Decision<NameOf<Given>, MissingNameOf<Given>>,
      ) => Awaitable<unknown>)
    | undefined;
  /**
   * The property of the request that contains the decision.
   *
   * @defaultValue `'rateLimit'`
   */
  requestPropertyName?: string | undefined;
};

/** The middleware, with its limiter to peek or reset a key. */
export interface RateLimitMiddleware<Given extends Limits = Limits, HasLimits extends boolean = boolean> {
  /**
   * Limits a request. Code that calls it can await it.
   *
   * @returns A promise that resolves after `next` was called or the rejection was sent, and rejects with what `next` throws or
   * rejects with. It stays pending if the client of a delayed request disconnects before its start.
   * @throws What `next` throws if the decision takes no time, as with a store in memory. Express 4 handles no promises.
   */
  (request: Request, response: Response, next: NextFunction): Promise<void>;
  /** Decides the requests, and can peek or reset their keys. */
  readonly limiter: RateLimiter<Given, HasLimits>;
}

/** The properties that Express adds to those of Node's requests. */
const EXPRESS_PROPERTIES =
  'app res next route params query body ip ips path hostname host protocol secure baseUrl originalUrl'.split(' ');
const nodeRequest = new IncomingMessage(new Socket());
const isReservedProperty = (name: string) => name in nodeRequest || EXPRESS_PROPERTIES.includes(name);

/**
 * Creates a middleware for Express 4 and 5. It puts the decision on `request.rateLimit` and sets the `X-RateLimit-*`
 * headers. An allowed request continues. A rejected one gets a 429 response with an exact `Retry-After`.
 *
 * With a queue such as `leakyBucket`, the middleware delays a request until its start. If the client disconnects before, it
 * drops the request and refunds it.
 *
 * Note: over HTTP/1, Node cannot detect a disconnect while more than about 64 kB of the request's body are unread. Such a
 * request continues at its start. Mount the limiter after the body parser to avoid this.
 *
 * @throws TypeError, RangeError with the name of the invalid option.
 * @example
 * ```ts
 * import { rateLimit } from '@rollgate/express';
 * import express from 'express';
 *
 * const app = express();
 * app.use(rateLimit({ limit: 100, window: '1m' }));
 * ```
 */
export function rateLimit<Given extends Limits, Source = unknown>(
  options: RateLimitOptions<Given> & LimitSource<Source>,
): RateLimitMiddleware<Given, HasLimits<Source>> {
  const { handler, requestPropertyName = 'rateLimit' } = (options ?? {}) as RateLimitOptions;
  validateOptionalFunction('handler', handler);
  validateString('requestPropertyName', requestPropertyName);
  if (requestPropertyName === '' || isReservedProperty(requestPropertyName)) {
    throw invalidOption('requestPropertyName', 'a property that requests do not have yet', requestPropertyName);
  }

  const httpLimiter: HttpLimiter<Request, Response> = new HttpLimiter(EXPRESS, options as unknown as RateLimitOptions, {
    attachDecision: (request, decision) => {
      (request as unknown as Record<string, Decision>)[requestPropertyName] = decision;
    },
    hasHandler: handler !== undefined,
    sendRejection(request, response, next, decision, rejection) {
      if (handler === undefined) return sendRejection(response, request.headers.accept, rejection, next);
      response.statusCode = rejection.status;
      return respondByHandler(
        (continueWith) => handler(request, response, continueWith, decision),
        next as NextFunction,
        (error) => httpLimiter.withdrawRejection(response, rejection, error),
      );
    },
  });

  return Object.assign(httpLimiter.createMiddleware(), { limiter: httpLimiter.limiter as never });
}

/**
 * Lets the app's handler send the response. If the handler continues with the request or fails, its rejection is withdrawn.
 * What the handler throws goes to the error handler, and what `next` throws to the caller.
 */
async function respondByHandler(
  handle: (next: NextFunction) => unknown,
  next: NextFunction,
  withdraw: (error: unknown) => void,
): Promise<void> {
  let hasNextThrown = false;
  const withdrawAndContinue = (error?: unknown) => {
    withdraw(error);
    try {
      next(error);
    } catch (thrown) {
      hasNextThrown = true;
      throw thrown;
    }
  };
  try {
    await handle(withdrawAndContinue);
  } catch (thrown) {
    if (hasNextThrown) throw thrown;
    withdrawAndContinue(toError(thrown));
  }
}
