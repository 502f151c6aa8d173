import type { Decision } from '@rollgate/core';
import { isThenable } from '@rollgate/core/store';
import { type Gate, type Next, type Rejection, rejectionBody, toError } from '@rollgate/http';
import type { Request, Response } from 'express';

/**
 * Answers a refused request as JSON or, for clients that would rather have it, plain text. It goes past Express's own
 * `send`, whose `ETag` is of no use in an answer that is not to be stored: a flood must not pay for it. When the user's
 * message fails, the request goes to the error handler, and is no refusal.
 */
export function sendRefusal(
  request: Request,
  response: Response,
  next: Next,
  gate: Gate<Request, Response>,
  decision: Decision,
): void {
  const fail = (thrown: unknown) => {
    if (gate.endIfStarted(response)) return;
    const error = toError(thrown);
    withdraw(gate, response, error);
    next(error);
  };
  try {
    const refusal = gate.createRejection(request, decision);
    if (isThenable(refusal)) {
      Promise.resolve(refusal)
        .then((known) => {
          if (!gate.endIfStarted(response)) send(request, response, next, gate.statusCode, known);
        })
        .catch(fail);
    } else send(request, response, next, gate.statusCode, refusal);
  } catch (thrown) {
    fail(thrown);
  }
}

/** Takes back what told the refusal, unless `error` is one itself: the request goes on after all, or fails. */
export function withdraw(gate: Gate<Request, Response>, response: Response, error: unknown): void {
  if (gate.withdraw(response, error) && response.statusCode === gate.statusCode) response.statusCode = 200;
}

function send(request: Request, response: Response, next: Next, statusCode: number, refusal: Rejection): void {
  if ('error' in refusal) next(refusal.error);
  else if ('json' in refusal) end(response, refusal.type, refusal.json);
  else if (prefersText(request)) end(response, 'text/plain; charset=utf-8', `${refusal.text}\n`);
  else end(response, 'application/json; charset=utf-8', JSON.stringify(rejectionBody(statusCode, refusal.text)));
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
