import type { Decision } from '@rollgate/core';
import { REJECTION_CODE } from './rejection.js';

/**
 * A rejection as an error, for frameworks that respond through their error handler. It is `instanceof Error` but has no
 * stack trace. A rejection is not a fault, and capturing a trace for each would make a flood expensive.
 */
export class RateLimitError {
  /** Always `RateLimitError`. */
  readonly name = 'RateLimitError';
  /** The stable code of every rejection. */
  readonly code = REJECTION_CODE;
  /** The name and the message, without a stack trace. */
  stack: string;
  readonly #decision: Decision;

  /** @param statusCode The status of the response, which frameworks read from the error. */
  constructor(
    readonly statusCode: number,
    /** The sentence that the response contains. */
    readonly message: string,
    decision: Decision,
  ) {
    this.stack = `RateLimitError: ${message}`;
    this.#decision = decision;
  }

  /** The limiter's decision. A getter, so that logs of the error do not contain it. */
  get decision(): Decision {
    return this.#decision;
  }
}
Object.setPrototypeOf(RateLimitError.prototype, Error.prototype);
