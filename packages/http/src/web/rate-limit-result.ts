import type { Decision } from '@rollgate/core';

/** The result of a request. Return `response()` for a rejected one, and pass every other response to `withHeaders`. */
export type RateLimitResult = AllowedResult | RejectedResult;

interface Result {
  /** The limiter's decision; `undefined` for a request that `allowList` or `skip` exempts. */
  readonly decision: Decision | undefined;
  /**
   * Adds the headers of the decision to a response. When the response ends, it refunds the request if the options say so.
   * Send the response that it returns. It is the same one, unless its headers are immutable, it has no body, or its end has
   * to be watched. If you don't send it, cancel its body. Otherwise its slots stay taken until it is collected as garbage.
   */
  withHeaders(response: Response): Response;
  /** The same for a handler that may return no response, as after `server.upgrade` on Bun. Then it releases the slots. */
  withHeaders(response: Response | undefined): Response | undefined;
  /** Records that the request failed without a response, so that the platform responds with status 500. */
  fail(): void;
}

/** The result of a request to continue with. Exempt requests have it, too, and all requests in a dry run. */
export interface AllowedResult extends Result {
  /** Continue with the request. */
  readonly allowed: true;
  // Without `strict`, TypeScript does not narrow a result by `!result.allowed`, so both kinds have the same members.
  /** Absent, because the request was not rejected. */
  readonly error?: undefined;
  /** Absent, because the request continues. */
  readonly response?: undefined;
}

/** The result of a rejected request. */
export interface RejectedResult extends Result {
  /** Return `response()` instead of a response to the request. */
  readonly allowed: false;
  readonly decision: Decision;
  /** The error that the option `message` is or returned, for error handlers; `undefined` for any other message. */
  readonly error: Error | undefined;
  /** Creates the response to the request. That of an error has its status and contains its message. */
  response(): Response;
}
