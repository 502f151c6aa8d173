import type { ServerResponse } from 'node:http';
import { type Rejection, renderRejection } from '../rejection/rejection.js';
import type { Next, NodeResponse } from './adapter.js';

/**
 * Sends a rejection with Node's response object, and passes an error to `next`. For adapters whose framework has no better
 * way to send a body. Express's `send` would add an `ETag`, which costs time and is useless in a response that is not cached.
 *
 * @param accept The request's header `Accept`.
 *
 * @example
 * ```ts
 * import type { IncomingMessage, ServerResponse } from 'node:http';
 * import { type Adapter, sendRejection } from '@rollgate/http';
 *
 * const adapter: Adapter<IncomingMessage, ServerResponse> = {
 *   attachDecision() {},
 *   sendRejection(request, response, next, _decision, rejection) {
 *     sendRejection(response, request.headers.accept, rejection, next);
 *   },
 * };
 * ```
 */
export function sendRejection(
  response: NodeResponse,
  accept: string | undefined,
  rejection: Rejection,
  next: Next,
): unknown {
  response.statusCode = rejection.status;
  if ('error' in rejection) return next(rejection.error);
  const { type, body } = renderRejection(rejection, accept);
  endResponse(response, type, body);
  return undefined;
}

/** Ends a response that has no body yet. */
export function endResponse(response: NodeResponse, type: string, body: string): void {
  response.setHeader('Content-Type', type);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  (response as ServerResponse).end(body);
}
