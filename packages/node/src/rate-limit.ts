import type { Limits, RateLimiter } from '@rollgate/core';
import { validateOptionalFunction } from '@rollgate/core/store';
import { type Framework, type HasLimits, HttpLimiter, type LimitSource, sendRejection, toError } from '@rollgate/http';
import type { Handler, RateLimitOptions, Request, Response } from './options.js';
import { respondToError } from './respond-to-error.js';

/** Wraps a listener, or is a middleware by itself. */
export interface RateLimitMiddleware<Given extends Limits = Limits, HasLimits extends boolean = boolean> {
  /** Returns a listener that responds to rejected requests, and passes on all others. */
  <Req extends Request, Res extends Response>(handler: Handler<Req, Res>): (request: Req, response: Res) => void;
  /**
   * The same as a middleware for Connect, Polka and similar frameworks. Errors go to `next`. Its promise resolves after `next`
   * was called or the rejection was sent, and rejects with what `next` throws or rejects with. If the decision takes no time, as
   * with a store in memory, it throws what `next` throws instead, because these frameworks handle no promises. The promise stays
   * pending if the client of a delayed request disconnects before its start.
   */
  readonly middleware: (request: Request, response: Response, next: (error?: Error) => unknown) => Promise<void>;
  /** The limiter, to peek or reset a key. */
  readonly limiter: RateLimiter<Given, HasLimits>;
}

const NODE: Framework<Request, Response> = {
  name: 'rateLimit',
  ownOptions: ['address', 'handler', 'onError'],
  resetUnit: 'epoch',
  getClientAddress: (request) => request.socket.remoteAddress,
  getRequestHeader: (request, name) => request.headers[name],
  getConnection: ({ socket }) => ({ peer: socket.remoteAddress }),
  isDisconnected: (request) => request.socket.destroyed,
  getNodeResponse: (response) => response,
};

/**
 * Creates a limiter for servers of `node:http` and `node:http2`. It puts the decision on `request.rateLimit` and sets the
 * `X-RateLimit-*` headers. A rejected request gets a 429 response with an exact `Retry-After`.
 *
 * With a queue such as `leakyBucket`, it delays a request until its start. If the client disconnects before, it drops the
 * request and refunds it.
 *
 * @throws TypeError, RangeError with the name of the invalid option.
 * @example
 * ```ts
 * import { createServer } from 'node:http';
 * import { rateLimit } from '@rollgate/node';
 *
 * const limit = rateLimit({ limit: 100, window: '1m' });
 * const server = createServer(limit((request, response) => response.end('hello')));
 * ```
 */
export function rateLimit<Given extends Limits, Source = unknown>(
  options: RateLimitOptions<Given> & LimitSource<Source>,
): RateLimitMiddleware<Given, HasLimits<Source>> {
  const { handler, onError = respondToError } = (options ?? {}) as RateLimitOptions;
  for (const [name, value] of Object.entries({ handler, onError })) validateOptionalFunction(name, value);

  const httpLimiter: HttpLimiter<Request, Response> = new HttpLimiter(NODE, options as unknown as RateLimitOptions, {
    attachDecision: (request, decision) => {
      request.rateLimit = decision;
    },
    hasHandler: handler !== undefined,
    sendRejection(request, response, next, decision, rejection) {
      if (handler === undefined) return sendRejection(response, request.headers.accept, rejection, next);
      response.statusCode = rejection.status;
      return httpLimiter.callHandler(response, rejection, () => handler(request, response, decision), next);
    },
  });

  const wrap =
    <Req extends Request, Res extends Response>(listener: Handler<Req, Res>) =>
    (request: Req, response: Res): void => {
      const fail = (thrown: unknown) => onError(toError(thrown), request, response);
      httpLimiter.run(request, response, (error) => {
        if (error !== undefined) fail(error);
        else new Promise((resolve) => resolve(listener(request, response))).catch(fail);
      });
    };
  return Object.assign(wrap, { middleware: httpLimiter.createMiddleware(), limiter: httpLimiter.limiter as never });
}
