import { STATUS_CODES } from 'node:http';
import type { Decision } from '@rollgate/core';
import { retryAfterSeconds } from './header-fields.js';

/** The `code` of every refusal, for programs to look at. */
export const REJECTION_CODE = 'RATE_LIMIT_EXCEEDED';

/**
 * What a refusal says: a text for the framework to put as its users know it, JSON to be sent as it is, or an error for the
 * framework's error handling.
 */
export type Rejection =
  | { readonly text: string }
  | { readonly json: string; readonly type: string }
  | { readonly error: Error };

/** The JSON body of a refusal, in the shape of Fastify's errors. */
export interface RejectionBody {
  readonly statusCode: number;
  readonly code: typeof REJECTION_CODE;
  readonly error: string;
  readonly message: string;
}

/** What a refusal says to people. */
export function refusalMessage(decision: Decision): string {
  const seconds = retryAfterSeconds(decision.retryAfterMs);
  if (seconds === undefined) return 'Rate limit exceeded: this request alone is more than the limit allows';
  return `Rate limit exceeded: try again in ${seconds} second${seconds === 1 ? '' : 's'}`;
}

/** The JSON body that says `message`. */
export function rejectionBody(statusCode: number, message: string): RejectionBody {
  return { statusCode, code: REJECTION_CODE, error: STATUS_CODES[statusCode] ?? 'Error', message };
}

/** JSON as it is. */
export const jsonRefusal = (json: string): Rejection => ({ json, type: 'application/json; charset=utf-8' });

/** Problem details (RFC 9457) of the type that the draft of the RateLimit fields registers; `members` are the user's own. */
export function problemRefusal(statusCode: number, decision: Decision, detail: string, members?: object): Rejection {
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
