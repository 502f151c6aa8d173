import type { Decision, Limits, RateLimiter } from '@rollgate/core';
import { validate } from '@rollgate/core';
import { type Awaitable, type Framework, Gate, type HttpOptions, isThenable } from '@rollgate/http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { sendRefusal } from './refusal.js';

declare global {
  namespace Express {
    interface Request {
      /** What the rate limiter decided about this request; the last one's, when several did. */
      rateLimit?: Decision;
    }
  }
}

/** What {@link rateLimit} takes: one rolling window by its numbers, or `limits`, and what is common to all adapters. */
export type RateLimitOptions<Given extends Limits = Limits> = HttpOptions<Request, Given> & {
  /** Answers a refused request in the place of the usual 429; the header fields are set already. */
  handler?:
    | ((request: Request, response: Response, next: NextFunction, decision: Decision) => Awaitable<void>)
    | undefined;
};

/** The middleware, and the limiter behind it, to peek or reset a key from the outside. */
export type RateLimitMiddleware = RequestHandler & { readonly limiter: RateLimiter };

const EXPRESS: Framework<Request, Response> = {
  name: 'rateLimit',
  ownOptions: ['handler'],
  resetUnit: 'epoch',
  addressOf: (request) => request.ip,
  setField: (response, name, value) => response.setHeader(name, value),
};

/**
 * Makes a middleware for Express 4 and 5 that lets a request pass, with the decision on `request.rateLimit` and in the
 * `X-RateLimit-*` fields, or answers it with 429 and a `Retry-After` that is true.
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
export function rateLimit<Given extends Limits>(options: RateLimitOptions<Given>): RateLimitMiddleware {
  const gate = new Gate(EXPRESS, options as RateLimitOptions);
  const { handler } = options;
  validate.optionalFunction('handler', handler);

  function rateLimitMiddleware(request: Request, response: Response, next: NextFunction): void {
    let decision: ReturnType<typeof gate.decide>;
    try {
      decision = gate.decide(request);
    } catch (error) {
      next(error);
      return;
    }
    if (isThenable(decision)) decision.then((settled) => settle(request, response, next, settled), next);
    else settle(request, response, next, decision);
  }

  function settle(request: Request, response: Response, next: NextFunction, decision: Decision | undefined): void {
    if (decision === undefined) {
      next();
      return;
    }
    request.rateLimit = decision;
    // While the decision was awaited somebody else, a timeout perhaps, may have answered.
    if (!response.headersSent) gate.writeFields(response, decision);
    if (decision.allowed) next();
    else if (!response.headersSent) refuse(request, response, next, decision);
  }

  function refuse(request: Request, response: Response, next: NextFunction, decision: Decision): void {
    response.statusCode = gate.statusCode;
    if (handler === undefined) {
      sendRefusal(request, response, gate.statusCode, gate.message, gate.messageFor(decision));
      return;
    }
    new Promise((resolve) => resolve(handler(request, response, next, decision))).catch((error) => {
      response.statusCode = 500; // The handler's failure is no refusal.
      next(error);
    });
  }

  return Object.assign(rateLimitMiddleware, { limiter: gate.limiter });
}
