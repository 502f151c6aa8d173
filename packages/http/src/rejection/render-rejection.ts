import { statusOf } from './http-error.js';
import { prefersText } from './prefers-text.js';
import { JSON_TYPE, type Rejection, rejectionBody } from './rejection.js';

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
 * Renders a rejection: JSON as it is, and text as JSON or, for clients that prefer it, as plain text. An error is rendered
 * with its own status and its message, for hosts without error handling.
 *
 * @param accept The request's header `Accept`. A host that always sends JSON passes none.
 */
export function renderRejection(rejection: Rejection, accept?: string | null): RenderedRejection {
  if ('json' in rejection) return { status: rejection.status, type: rejection.type, body: rejection.json };
  const isError = 'error' in rejection;
  const status = (isError ? statusOf(rejection.error) : undefined) ?? rejection.status;
  const text = isError ? rejection.error.message : rejection.text;
  return prefersText(accept)
    ? { status, type: 'text/plain; charset=utf-8', body: `${text}\n` }
    : { status, type: JSON_TYPE, body: serializeBody(status, text) };
}

/** Those of the last rejection. Many rejections in a row have the same message. */
let lastStatus = 0;
let lastMessage = '';
let lastJson = '';

function serializeBody(status: number, message: string): string {
  if (status !== lastStatus || message !== lastMessage) lastJson = JSON.stringify(rejectionBody(status, message));
  lastStatus = status;
  lastMessage = message;
  return lastJson;
}
