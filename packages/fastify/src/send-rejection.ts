import { STATUS_CODES } from 'node:http';
import type { Decision } from '@rollgate/core';
import { isThenable } from '@rollgate/core/store';
import { type HttpLimiter, type Next, RateLimitError, type Rejection, toError } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isErrorObserved } from './error-observers.js';

const JSON_TYPE = 'application/json; charset=utf-8';

type FastifyLimiter = HttpLimiter<FastifyRequest, FastifyReply>;

/**
 * Sends JSON as it is. Passes text, as a `RateLimitError`, and errors to the app's error handler. If the app has nothing
 * that would see the error, it sends Fastify's response to such an error directly.
 */
export function sendRejection(
  request: FastifyRequest,
  reply: FastifyReply,
  done: Next,
  httpLimiter: FastifyLimiter,
  decision: Decision,
): void {
  const { statusCode } = httpLimiter;
  const send = (rejection: Rejection) => {
    if ('error' in rejection) {
      reply.code(statusCode); // Fastify uses it for an error without a status.
      done(rejection.error);
    } else if ('text' in rejection) {
      if (STATUS_CODES[statusCode] === undefined || isErrorObserved(request)) {
        done(new RateLimitError(statusCode, rejection.text, decision));
      } else sendJson(reply, statusCode, httpLimiter.serializeBody(rejection.text));
    } else reply.code(statusCode).type(rejection.type).send(rejection.json);
  };
  const fail = (thrown: unknown) => passError(httpLimiter, reply, done, thrown);
  try {
    const rejection = httpLimiter.createRejection(request, decision);
    if (!isThenable(rejection)) send(rejection);
    else
      Promise.resolve(rejection)
        .then((resolved) => {
          if (!reply.sent && !httpLimiter.endIfStarted(reply)) send(resolved);
        })
        .catch(fail);
  } catch (thrown) {
    fail(thrown);
  }
}

/** Sends JSON that no hook may serialize again. An error's response does not use the reply's own serializer either. */
function sendJson(reply: FastifyReply, statusCode: number, json: string): void {
  reply.code(statusCode).type(JSON_TYPE).serializer(String).send(json);
}

/** Passes an error that occurred during a rejection to the app's error handler, without the rejection's headers. */
export function passError(httpLimiter: FastifyLimiter, reply: FastifyReply, done: Next, thrown: unknown): void {
  if (httpLimiter.endIfStarted(reply)) return;
  const error = toError(thrown);
  httpLimiter.withdrawRejection(reply, error);
  done(error);
}
