import { HttpException } from '@nestjs/common';
import type { Decision } from '@rollgate/core';

/** A rejection. Its response is the body, and exception filters may send another one. It has no stack trace. */
export class RateLimitException extends HttpException {
  readonly #decision: Decision;
  /** In a GraphQL operation, the `extensions` of the error: `code`, `statusCode`, `error` and `retryAfterMs`. */
  extensions?: Record<string, unknown>;

  private constructor(body: string | object, statusCode: number, decision: Decision) {
    super(body as object, statusCode);
    this.#decision = decision;
  }

  /** Creates an exception without a stack trace, because capturing one for each would make a flood expensive. */
  static create(body: string | object, statusCode: number, decision: Decision): RateLimitException {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    try {
      return new RateLimitException(body, statusCode, decision);
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
  }

  /** The limiter's decision. A getter, so that logs of the exception do not contain it. */
  get decision(): Decision {
    return this.#decision;
  }
}
