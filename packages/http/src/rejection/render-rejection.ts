import { negotiate } from './negotiate.js';
import { JSON_TYPE, type Rejection, rejectionBody, TEXT_TYPE } from './rejection.js';
import { statusOf } from './status.js';

const DEFAULT_TYPES = [JSON_TYPE, TEXT_TYPE];

/** The response to a rejected request, apart from the headers of the limiter. */
export interface RenderedRejection {
  /** The status of the response. */
  readonly status: number;
  /** The body's `Content-Type`. */
  readonly type: string;
  /** The whole body. */
  readonly body: string;
}

/**
 * Renders a rejection. A body stays as it is. The sentence of the default body becomes JSON or, for clients that prefer it,
 * plain text. An error is rendered with its own status and its message, for hosts without error handling.
 *
 * @param accept The request's header `Accept`. A host that always sends JSON passes none.
 *
 * @example
 * ```ts
 * import { renderRejection } from '@rollgate/http';
 *
 * const rejection = { status: 429, text: 'Rate limit exceeded: try again in 23 seconds' };
 * renderRejection(rejection, 'text/plain').body; // => 'Rate limit exceeded: try again in 23 seconds\n'
 * JSON.parse(renderRejection(rejection).body).code; // => 'RATE_LIMIT_EXCEEDED'
 * ```
 */
export function renderRejection(rejection: Rejection, accept?: string | null): RenderedRejection {
  if ('body' in rejection) return rejection;
  const isError = 'error' in rejection;
  const status = (isError ? statusOf(rejection.error) : undefined) ?? rejection.status;
  const text = isError ? rejection.error.message : rejection.text;
  const type = negotiate(accept, DEFAULT_TYPES);
  return { status, type, body: type === TEXT_TYPE ? `${text}\n` : serializeBody(status, text) };
}

/** The JSON of the last rejection and what it was made of, because many rejections in a row have the same. */
let lastStatus = 0;
let lastMessage = '';
let lastJson = '';

function serializeBody(status: number, message: string): string {
  if (status !== lastStatus || message !== lastMessage) lastJson = JSON.stringify(rejectionBody(status, message));
  lastStatus = status;
  lastMessage = message;
  return lastJson;
}
