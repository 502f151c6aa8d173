import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Decision, Limits, NameOf, RateLimiter } from '@rollgate/core';
import { validate } from '@rollgate/core/store';
import { type Awaitable, type Framework, Gate, type HttpOptions, type ProxyTrust, toError } from '@rollgate/http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { sendRefusal, withdraw } from './refusal.js';

declare global {
  namespace Express {
    interface Request {
      /** What the rate limiter decided about this request; the last one's, when several did. */
      rateLimit?: Decision;
    }
  }
}

/** What {@link rateLimit} takes: one rolling window by its numbers, or `limits`, and what is common to all adapters. */
export type RateLimitOptions<Given extends Limits = Limits> = HttpOptions<Request, Given, Response> & {
  /**
   * Sends the response to a rejected request instead of the usual 429. The status and the headers are already set. Not called when
   * the response has started before the limiter: Rollgate then ends it.
   */
  handler?:
    | ((request: Request, response: Response, next: NextFunction, decision: Decision<NameOf<Given>>) => Awaitable<void>)
    | undefined;
  /** Where on the request the decision is noted; default `'rateLimit'`. */
  requestPropertyName?: string | undefined;
};

/** The middleware, and the limiter behind it, to peek or reset a key from the outside. */
export type RateLimitMiddleware<Given extends Limits = Limits> = RequestHandler & {
  readonly limiter: RateLimiter<Given>;
};

const EXPRESS: Framework<Request, Response> = {
  name: 'rateLimit',
  ownOptions: ['handler', 'requestPropertyName'],
  resetUnit: 'epoch',
  addressOf: (request) => request.ip,
  headersOf: (request) => request.headers,
  proxyTrust,
  hasLeft: (request) => request.socket.destroyed,
  isAnswered: (response) => response.writableEnded,
  nodeResponse: (response) => response,
  lowerCaseFields: false,
  setField: (response, name, value) => response.setHeader(name, value),
  getField: (response, name) => response.getHeader(name),
  removeField: (response, name) => response.removeHeader(name),
};

function proxyTrust({ app }: Request): ProxyTrust {
  const setting: unknown = app.get('trust proxy');
  if (setting === true) return 'every';
  return setting === undefined || setting === false || setting === 0 ? 'none' : 'some';
}

/** What Express puts on a request beside what Node does. */
const OF_EXPRESS = 'app res next route params query body ip ips path hostname host protocol secure baseUrl originalUrl';
const ofNode = new IncomingMessage(new Socket());
const isTaken = (name: string) => name in ofNode || OF_EXPRESS.split(' ').includes(name);

/**
 * Makes a middleware for Express 4 and 5 that lets a request pass, with the decision on `request.rateLimit` and in the
 * `X-RateLimit-*` fields, or answers it with 429 and a `Retry-After` that is true. With a queue such as `leakyBucket` a
 * request is held until its turn; when its client leaves before, it goes nowhere, and its place is given back. Not noticed
 * is who leaves an HTTP/1 request with more than about 64 kB of body that nobody has read, for Node stops reading there:
 * it goes on at its turn. Behind a body parser it is noticed.
 *
 * @throws TypeError, RangeError naming the option that is wrong.
 * @example
 * ```ts
 * import { rateLimit } from '@rollgate/express';
 * import express from 'express';
 *
 * const app = express();
 * app.use(rateLimit({ limit: 100, window: '1m' }));
 * ```
 */
export function rateLimit<Given extends Limits>(options: RateLimitOptions<Given>): RateLimitMiddleware<Given> {
  const { handler, requestPropertyName = 'rateLimit' } = (options ?? {}) as RateLimitOptions;
  validate.optionalFunction('handler', handler);
  const property = validate.string('requestPropertyName', requestPropertyName) as 'rateLimit';
  if (requestPropertyName === '' || isTaken(requestPropertyName)) {
    throw validate.invalidOption(
      'requestPropertyName',
      'a name that requests do not use themselves',
      requestPropertyName,
    );
  }

  const gate = new Gate(EXPRESS, options as unknown as RateLimitOptions, {
    note(request, decision) {
      request[property] = decision;
    },
    refuse(request, response, next, decision) {
      response.statusCode = gate.statusCode;
      if (handler === undefined) sendRefusal(request, response, next, gate, decision);
      else handWith(handler, request, response, next as NextFunction, gate, decision);
    },
  });

  function rateLimitMiddleware(request: Request, response: Response, next: NextFunction): void {
    gate.run(request, response, next);
  }

  return Object.assign(rateLimitMiddleware, { limiter: gate.limiter as unknown as RateLimiter<Given> });
}

/**
 * Lets the user's handler answer. When it passes the request on after all, or fails, the status is no refusal's; what
 * it throws or rejects with goes to the error handler.
 */
function handWith(
  handler: NonNullable<RateLimitOptions['handler']>,
  request: Request,
  response: Response,
  next: NextFunction,
  gate: Gate<Request, Response>,
  decision: Decision,
): void {
  const passOn = (...args: unknown[]) => {
    withdraw(gate, response, args[0]);
    (next as (...args: unknown[]) => void)(...args);
  };
  new Promise((resolve) => resolve(handler(request, response, passOn as NextFunction, decision))).catch((thrown) =>
    passOn(toError(thrown)),
  );
}
