import type { Decision } from '@rollgate/core';
import { isThenable } from '@rollgate/core/store';
import { type Awaitable, type HttpLimiter, type Next, prefersText, type Rejection, toError } from '@rollgate/http';
import type { RateLimitOptions, Request, Response } from './options.js';

type NodeLimiter = HttpLimiter<Request, Response>;

/**
 * Sends the response to a rejected request, by the app's handler or else as JSON or plain text. If the handler or the
 * option `message` fails, the request is not rejected, and `next` gets the error.
 */
export function sendRejection(
  httpLimiter: NodeLimiter,
  handler: RateLimitOptions['handler'],
  request: Request,
  response: Response,
  next: Next,
  decision: Decision,
): void {
  const fail = (thrown: unknown) => {
    if (httpLimiter.endIfStarted(response)) return;
    const error = toError(thrown);
    const isWithdrawn = httpLimiter.withdrawRejection(response, error);
    if (isWithdrawn && response.statusCode === httpLimiter.statusCode) response.statusCode = 200;
    next(error);
  };
  try {
    const sent =
      handler === undefined
        ? sendDefault(httpLimiter, request, response, decision)
        : handler(request, response, decision);
    if (isThenable(sent)) Promise.resolve(sent).catch(fail);
  } catch (thrown) {
    fail(thrown);
  }
}

function sendDefault(
  httpLimiter: NodeLimiter,
  request: Request,
  response: Response,
  decision: Decision,
): Awaitable<void> {
  const rejection = httpLimiter.createRejection(request, decision);
  if (!isThenable(rejection)) return send(httpLimiter, request, response, rejection);
  return Promise.resolve(rejection).then((resolved) => {
    if (!httpLimiter.endIfStarted(response)) send(httpLimiter, request, response, resolved);
  });
}

/** @throws The error of a `message` that is an error. */
function send(httpLimiter: NodeLimiter, request: Request, response: Response, rejection: Rejection): void {
  if ('error' in rejection) throw rejection.error;
  if ('json' in rejection) end(response, rejection.type, rejection.json);
  else if (prefersText(request.headers.accept)) end(response, 'text/plain; charset=utf-8', `${rejection.text}\n`);
  else end(response, 'application/json; charset=utf-8', httpLimiter.serializeBody(rejection.text));
}

function end(response: Response, contentType: string, body: string): void {
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}
