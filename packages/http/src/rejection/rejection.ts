import type { Decision } from '@rollgate/core';
import { STATUS_CODES } from '../base/platform.js';
import { toRetryAfterSeconds } from '../base/seconds.js';

/** The `code` of every rejection, for programs to compare with. */
export const REJECTION_CODE = 'RATE_LIMIT_EXCEEDED';

/**
 * The body of a rejection. The adapter sends `text` in its framework's usual format and `json` as it is, and passes `error`
 * to the framework's error handling.
 */
export type Rejection =
  | {
      /** The message, to send in the framework's usual format. */
      readonly text: string;
    }
  | {
      /** The whole body. */
      readonly json: string;
      /** The body's `Content-Type`. */
      readonly type: string;
    }
  | {
      /** The app's own error, for the framework's error handler. */
      readonly error: Error;
    };

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

/** Those of the last rejection. Many rejections in a row have the same text. */
let lastSeconds = 0;
let lastText = '';

/** Returns the default text of a rejection. */
export function describeRejection(decision: Decision): string {
  const seconds = toRetryAfterSeconds(decision.retryAfterMs);
  if (seconds === undefined) return 'Rate limit exceeded: this request alone exceeds the limit';
  if (seconds !== lastSeconds)
    lastText = `Rate limit exceeded: try again in ${seconds} second${seconds === 1 ? '' : 's'}`;
  lastSeconds = seconds;
  return lastText;
}

/** Returns the JSON body that contains `message`. */
export function rejectionBody(statusCode: number, message: string): RejectionBody {
  return { statusCode, code: REJECTION_CODE, error: STATUS_CODES[statusCode] ?? 'Error', message };
}

/** Creates the function that returns {@link rejectionBody} as JSON. Many rejections in a row have the same message. */
export function createBodySerializer(statusCode: number): (message: string) => string {
  let lastMessage: string | undefined;
  let json = '';
  return (message) => {
    if (message !== lastMessage) json = JSON.stringify(rejectionBody(statusCode, message));
    lastMessage = message;
    return json;
  };
}

/** Returns a rejection whose body is `json` as it is. */
export const jsonRejection = (json: string): Rejection => ({ json, type: 'application/json; charset=utf-8' });

/**
 * Returns problem details (RFC 9457) of the type that the draft of the RateLimit headers registers.
 *
 * @param members Added to the object, where they replace members of the same name.
 */
export function problemRejection(statusCode: number, decision: Decision, detail: string, members?: object): Rejection {
  const problem = {
    type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
    title: 'Request cannot be satisfied as assigned quota has been exceeded',
    status: statusCode,
    detail,
    'violated-policies': decision.violated,
    ...members,
  };
  return { json: JSON.stringify(problem), type: 'application/problem+json' };
}

/** An error in the style of `http-errors`. */
export type HttpError = Error & {
  /** The status of the response. */
  readonly status?: unknown;
  /** The same. Some frameworks read only one of them. */
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
