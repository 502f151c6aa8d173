import { type Decision, RateLimitError, type RateLimiter } from '@rollgate/core';
import { isThenable, validateOneOf, validateOptionalFunction } from '@rollgate/core/store';
import { HttpLimiter, type Next, type Rejection, renderRejection, statusOf } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FASTIFY } from './fastify-framework.js';
import { HOOKS, type Hook, type RateLimitOptions } from './options.js';

export type Done = (error?: Error) => void;

/** Limits the requests of one route, or of all routes, in one of Fastify's hooks. */
export interface RateLimitHook {
  readonly hook: Hook;
  readonly limiter: RateLimiter;
  readonly run: (request: FastifyRequest, reply: FastifyReply, done: Done) => void;
}

/**
 * Creates a hook. It takes a callback, because an async hook would cost each request a promise.
 *
 * @throws TypeError, RangeError with the name of the invalid option.
 */
export function createHook(options: RateLimitOptions): RateLimitHook {
  const { handler } = options;
  validateOptionalFunction('handler', handler);
  const httpLimiter: HttpLimiter<FastifyRequest, FastifyReply> = new HttpLimiter(FASTIFY, options, {
    attachDecision: (request, decision) => {
      request.rateLimit = decision;
    },
    hasHandler: handler !== undefined,
    sendRejection(request, reply, done, decision, rejection) {
      if (handler === undefined) return sendRejection(reply, done, decision, rejection);
      reply.code(rejection.status);
      return httpLimiter.callHandler(reply, rejection, () => sendResultOf(handler, request, reply, decision), done);
    },
  });

  function rateLimitHook(request: FastifyRequest, reply: FastifyReply, done: Done): void {
    httpLimiter.run(request, reply, done);
  }

  const hook = validateOneOf('hook', options.hook ?? 'onRequest', HOOKS);
  return { hook, limiter: httpLimiter.limiter, run: rateLimitHook };
}

/** Lets the app's handler send the response, or sends what it returns. */
async function sendResultOf(
  handler: NonNullable<RateLimitOptions['handler']>,
  request: FastifyRequest,
  reply: FastifyReply,
  decision: Decision,
): Promise<void> {
  const result = handler(request, reply, decision);
  const body = await result;
  // The same rules as for a route's handler: without a promise, `undefined` means that the handler sends later.
  if ((body !== undefined || isThenable(result)) && body !== reply && !reply.sent) reply.send(body);
}

/** Sends a body as it is. Passes the default one, as a `RateLimitError`, and errors to the app's error handler. */
function sendRejection(reply: FastifyReply, done: Next, decision: Decision, rejection: Rejection): unknown {
  const { status } = rejection;
  if ('error' in rejection) {
    if (statusOf(rejection.error) === undefined) reply.code(status); // A frozen error.
    return done(rejection.error);
  }
  if ('text' in rejection) return done(new RateLimitError(decision, rejection.text, status));
  const { type, body } = renderRejection(rejection);
  return reply.code(status).type(type).send(body);
}
