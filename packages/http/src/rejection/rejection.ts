import type { Awaitable, Decision } from '@rollgate/core';
import { REJECTION_CODE, validateIntegerBetween } from '@rollgate/core/store';
import { STATUS_CODES } from '../host/platform.js';
import { negotiate } from './negotiate.js';

/** The values of `Content-Type` that a rejection may have. */
export const JSON_TYPE = 'application/json; charset=utf-8';
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const HTML_TYPE = 'text/html; charset=utf-8';

/**
 * What a rejected client gets. `renderRejection` turns it into the body of a response. A host with its own error handling
 * passes `error` to it instead.
 */
export type Rejection = {
  /** The status of the response. */
  readonly status: number;
} & (
  | {
      /** The sentence of the default body, as text or in the framework's usual format. */
      readonly text: string;
    }
  | {
      /** The whole body. */
      readonly body: string;
      /** The body's `Content-Type`. */
      readonly type: string;
    }
  | {
      /** The app's own error, for the framework's error handler. */
      readonly error: Error;
    }
);

/** The JSON body of a rejection, with the same members as Fastify's errors. */
export interface RejectionBody {
  /** The status of the response, such as 429. */
  readonly statusCode: number;
  /** The stable code of every rejection. */
  readonly code: typeof REJECTION_CODE;
  /** The name of the status, such as `Too Many Requests`. In a bundle, uncommon statuses have the name `Error`. */
  readonly error: string;
  /** A sentence for people, such as `Rate limit exceeded: try again in 23 seconds`. */
  readonly message: string;
}

/** Returns the JSON body that contains `message`. */
export function rejectionBody(statusCode: number, message: string): RejectionBody {
  return { statusCode, code: REJECTION_CODE, error: STATUS_CODES[statusCode] ?? 'Error', message };
}

/**
 * Returns problem details (RFC 9457) of the type that the draft of the RateLimit headers registers.
 *
 * @param members Added to the object, where they replace members of the same name.
 */
export function problemRejection(statusCode: number, decision: Decision, detail: string, members?: object): Rejection {
  // Slots become free when other requests end, so the client has not exceeded its own quota. It has if a leased limit rejects.
  const isBusy = decision.violated.every((name) => {
    const { retryIsEstimate, remainingIsEstimate } = decision.limits[name]!;
    return retryIsEstimate && !remainingIsEstimate;
  });
  const problem = {
    type: `https://iana.org/assignments/http-problem-types#${isBusy ? 'temporary-reduced-capacity' : 'quota-exceeded'}`,
    title: isBusy
      ? 'Request cannot be satisfied due to temporary server capacity constraints'
      : 'Request cannot be satisfied as assigned quota has been exceeded',
    status: statusCode,
    detail,
    'violated-policies': decision.violated,
    ...members,
  };
  return { status: statusCode, body: JSON.stringify(problem), type: 'application/problem+json' };
}

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

/** The option `statusCode`. */
export type StatusOption = number | ((request: unknown, decision: Decision) => Awaitable<number>);

/** @throws TypeError, RangeError when it is neither a function nor the status of an error. */
export function resolveStatusOption(statusCode: unknown): StatusOption {
  return typeof statusCode === 'function' ? (statusCode as StatusOption) : validateStatus('statusCode', statusCode);
}

/** @throws TypeError, RangeError when `status` is not the status of an error. */
export function validateStatus(name: string, status: unknown): number {
  return validateIntegerBetween(name, status, 400, 599);
}

/** An error in the style of `http-errors`. */
export type HttpError = Error & {
  /** The status of the response. */
  readonly status?: unknown;
  /** The status again, because some frameworks read only one of the two names. */
  readonly statusCode?: unknown;
  /** Whether the client may read the message. */
  readonly expose?: unknown;
};

/** Returns the status of an error, if it is one of an error. */
export function statusOf(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { status, statusCode = status } = error as HttpError;
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 600 ? Math.trunc(statusCode) : undefined;
}

/** Whether the status of an app's error asks the client to retry later, so that the error is a rejection itself. */
export function isRejectionError(error: unknown, statusCode: number): boolean {
  const status = statusOf(error);
  return status !== undefined && [statusCode, 429, 503].includes(status);
}
