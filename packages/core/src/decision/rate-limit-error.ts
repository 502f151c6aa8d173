import type { Decision } from './decision.js';

/** The `code` of every rejection, for programs to compare with. */
export const REJECTION_CODE = 'RATE_LIMIT_EXCEEDED';

/**
 * Converts the wait of a rejection to the seconds of `Retry-After`.
 *
 * @returns At least 1, because 0 would make clients retry at once; `undefined` for a wait without end.
 */
export function toRetryAfterSeconds(retryAfterMs: number): number | undefined {
  return retryAfterMs === Infinity ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1000));
}

/** The seconds and the text of the last rejection, because many rejections in a row have the same. */
let lastSeconds = 0;
let lastText = '';

/** Returns a sentence about a rejection. */
export function describeRejection(decision: Decision): string {
  const seconds = toRetryAfterSeconds(decision.retryAfterMs);
  if (seconds === undefined && decision.reason === 'blocked') return 'Access is blocked';
  if (seconds === undefined && decision.limit === 0) return 'Rate limit exceeded: no requests are allowed';
  if (seconds === undefined) return 'Rate limit exceeded: this request alone exceeds the limit';
  if (seconds !== lastSeconds)
    lastText = `Rate limit exceeded: try again in ${seconds} second${seconds === 1 ? '' : 's'}`;
  lastSeconds = seconds;
  return lastText;
}

/**
 * A rejection as an error, which `RateLimiter.enforce` throws, and which frameworks get that respond through their error handler. It is
 * `instanceof Error` but has no stack trace. A rejection is not a fault, and capturing a trace for each would make a flood expensive.
 */
export class RateLimitError<Name extends string = string, Missing extends string = never> {
  /** Always `RateLimitError`. */
  readonly name = 'RateLimitError';
  /** The stable code of every rejection. */
  readonly code = REJECTION_CODE;
  /** The status of the response, which frameworks read from the error. */
  readonly status: number;
  /** The status again, because some frameworks read only one of the two names. */
  readonly statusCode: number;
  /** The wait in milliseconds, as in the decision. `Infinity`, so `null` in JSON, if no retry can succeed. */
  readonly retryAfterMs: number;
  /** A sentence for the client, such as `Rate limit exceeded: try again in 23 seconds`. */
  readonly message: string;
  /** The name and the message, without a stack trace. */
  stack: string;
  readonly #decision: Decision<Name, Missing>;

  /**
   * @param message A sentence for the client, by default one with the wait.
   * @param status 429 by default.
   */
  constructor(decision: Decision<Name, Missing>, message: string = describeRejection(decision), status = 429) {
    this.status = this.statusCode = status;
    this.retryAfterMs = decision.retryAfterMs;
    this.message = message;
    this.stack = `RateLimitError: ${message}`;
    this.#decision = decision;
  }

  /** The limiter's decision. A getter, so that logs of the error do not contain it. */
  get decision(): Decision<Name, Missing> {
    return this.#decision;
  }

  /** What GraphQL servers pass on to clients. A getter, so that logs of the error do not contain it. */
  get extensions(): {
    /** The code of the error. */
    readonly code: string;
    /** The wait. */
    readonly retryAfterMs: number;
  } {
    return { code: this.code, retryAfterMs: this.retryAfterMs };
  }
}
Object.setPrototypeOf(RateLimitError.prototype, Error.prototype);
