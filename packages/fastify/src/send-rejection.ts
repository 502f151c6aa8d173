import { STATUS_CODES } from 'node:http';
import type { Decision } from '@rollgate/core';
import { type Next, RateLimitError, type Rejection, renderRejection } from '@rollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isErrorObserved } from './error-observers.js';

/**
 * Sends a body as it is. Passes the default one, as a `RateLimitError`, and errors to the app's error handler. If the app has
 * nothing that would see the error, it sends Fastify's response to such an error directly.
 */
export function sendRejection(
  request: FastifyRequest,
  reply: FastifyReply,
  done: Next,
  decision: Decision,
  rejection: Rejection,
): void {
  const { status } = rejection;
  if ('error' in rejection) {
    reply.code(status); // Fastify uses it for an error without a status.
    done(rejection.error);
  } else if ('text' in rejection && (STATUS_CODES[status] === undefined || isErrorObserved(request))) {
    done(new RateLimitError(status, rejection.text, decision));
  } else {
    const { type, body } = renderRejection(rejection);
    reply.code(status).type(type);
    // No hook may serialize the text again. An error's response does not use the reply's own serializer either.
    if ('text' in rejection) reply.serializer(String);
    reply.send(body);
  }
}
