import type { Decision } from '@rollgate/core';
import { type Next, RateLimitError, type Rejection, renderRejection, statusOf } from '@rollgate/http';
import type { FastifyReply } from 'fastify';

/** Sends a body as it is. Passes the default one, as a `RateLimitError`, and errors to the app's error handler. */
export function sendRejection(reply: FastifyReply, done: Next, decision: Decision, rejection: Rejection): unknown {
  const { status } = rejection;
  if ('error' in rejection) {
    if (statusOf(rejection.error) === undefined) reply.code(status); // A frozen error.
    return done(rejection.error);
  }
  if ('text' in rejection) return done(new RateLimitError(status, rejection.text, decision));
  const { type, body } = renderRejection(rejection);
  return reply.code(status).type(type).send(body);
}
