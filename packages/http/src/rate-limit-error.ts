import type { Decision } from '@rollgate/core';
import { REJECTION_CODE } from './refusal.js';

/**
 * A refusal as an error, for frameworks that answer through their error handler. It is an `Error` to `instanceof` and
 * to every handler, but holds no stack: a refusal is no fault, and a flood of refused requests must not pay for one
 * stack each.
 */
export class RateLimitError {
  readonly name = 'RateLimitError';
  readonly code = REJECTION_CODE;
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
