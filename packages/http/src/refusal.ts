import { STATUS_CODES } from 'node:http';
import type { Decision } from '@rollgate/core';
import { retryAfterSeconds } from './header-fields.js';

/** The `code` of every refusal, for programs to look at. */
export const REFUSAL_CODE = 'RATE_LIMIT_EXCEEDED';

/** The JSON body of a refusal, in the shape of Fastify's errors. */
export interface RefusalBody {
  readonly statusCode: number;
  readonly code: typeof REFUSAL_CODE;
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
export function refusalBody(statusCode: number, message: string): RefusalBody {
  return { statusCode, code: REFUSAL_CODE, error: STATUS_CODES[statusCode] ?? 'Error', message };
}

/**
 * A refusal as an error, for frameworks that answer through their error handler. It is an `Error` to `instanceof` and
 * to every handler, but holds no stack: a refusal is no fault, and a flood of refused requests must not pay for one
 * stack each.
 */
export class RateLimitError {
  readonly name = 'RateLimitError';
  readonly code = REFUSAL_CODE;
  stack: string;
  readonly #decision: Decision;

  /** @param statusCode The status of the answer, which frameworks read from the error. */
  constructor(
    readonly statusCode: number,
    readonly message: string,
    decision: Decision,
  ) {
    this.stack = `RateLimitError: ${message}`;
    this.#decision = decision;
  }

  /** What the limiter decided. Not a property of its own, so that a log of the error does not hold all of it. */
  get decision(): Decision {
    return this.#decision;
  }
}
Object.setPrototypeOf(RateLimitError.prototype, Error.prototype);
