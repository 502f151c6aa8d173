import type { Decision } from '@rollgate/core';
import { REJECTION_CODE } from '@rollgate/core/store';
import { STATUS_CODES } from '../host/platform.js';

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
