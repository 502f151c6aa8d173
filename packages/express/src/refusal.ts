import type { Decision } from '@rollgate/core';
import { type Gate, refusalBody } from '@rollgate/http';
import type { Request, Response } from 'express';

/**
 * Answers a refused request as JSON or, for clients that would rather have it, plain text. It goes past Express's own
 * `send`, whose `ETag` is of no use in an answer that is not to be stored: a flood must not pay for it.
 */
export function sendRefusal(
  request: Request,
  response: Response,
  gate: Gate<Request, Response>,
  decision: Decision,
): void {
  response.statusCode = gate.statusCode;
  if (gate.messageJson !== undefined) {
    end(response, 'application/json; charset=utf-8', gate.messageJson);
    return;
  }
  const text = gate.messageFor(decision);
  if (prefersText(request)) end(response, 'text/plain; charset=utf-8', `${text}\n`);
  else end(response, 'application/json; charset=utf-8', JSON.stringify(refusalBody(gate.statusCode, text)));
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
