import type { Decision } from '@rollgate/core';
import { isThenable } from '@rollgate/core/store';
import { type HttpLimiter, type Next, type Rejection, toError } from '@rollgate/http';
import type { Request, Response } from 'express';

/**
 * Sends the response to a rejected request, as JSON or, for clients that prefer it, as plain text. If the option `message`
 * fails, the request goes to the error handler and is not a rejection.
 *
 * It does not use Express's `send`, because its `ETag` costs time and is useless in a response that is not cached.
 */
export function sendRejection(
  request: Request,
  response: Response,
  next: Next,
  httpLimiter: HttpLimiter<Request, Response>,
  decision: Decision,
): void {
  const fail = (thrown: unknown) => {
    if (httpLimiter.endIfStarted(response)) return;
    const error = toError(thrown);
    withdrawRejection(httpLimiter, response, error);
    next(error);
  };
  try {
    const rejection = httpLimiter.createRejection(request, decision);
    if (isThenable(rejection)) {
      Promise.resolve(rejection)
        .then((resolved) => {
          if (!httpLimiter.endIfStarted(response)) send(request, response, next, httpLimiter, resolved);
        })
        .catch(fail);
    } else send(request, response, next, httpLimiter, rejection);
  } catch (thrown) {
    fail(thrown);
  }
}

/** Removes the rejection's headers and status, because the request continues after all or fails with another `error`. */
export function withdrawRejection(
  httpLimiter: HttpLimiter<Request, Response>,
  response: Response,
  error: unknown,
): void {
  const isWithdrawn = httpLimiter.withdrawRejection(response, error);
  if (isWithdrawn && response.statusCode === httpLimiter.statusCode) response.statusCode = 200;
}

function send(
  request: Request,
  response: Response,
  next: Next,
  httpLimiter: HttpLimiter<Request, Response>,
  rejection: Rejection,
): void {
  if ('error' in rejection) next(rejection.error);
  else if ('json' in rejection) end(response, rejection.type, rejection.json);
  else if (prefersText(request)) end(response, 'text/plain; charset=utf-8', `${rejection.text}\n`);
  else end(response, 'application/json; charset=utf-8', httpLimiter.serializeBody(rejection.text));
}

function prefersText(request: Request): boolean {
  const { accept } = request.headers;
  if (accept === undefined || accept === '*/*') return false;
  return request.accepts(['json', 'text']) === 'text';
}

function end(response: Response, contentType: string, body: string): void {
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}
