import { validate, withCode } from '@rollgate/core/store';

/**
 * What a user's function or a store threw, as an error. Frameworks take `undefined`, and Express `'route'`, for "go on":
 * a failure must never let a request through.
 */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const isErrorLike = typeof thrown === 'object' && thrown !== null && 'message' in thrown;
  if (isErrorLike) return thrown as Error; // Of another realm, or a library's own.
  const message = `The rate limiter could not decide: ${validate.formatValue(thrown)} was thrown`;
  return withCode('ERR_ROLLGATE_NOT_AN_ERROR', new Error(message, { cause: thrown }));
}

/** The error for a request that has no client address. */
export function noAddress(): Error {
  const message =
    "Cannot determine the client's IP address. Is the server listening on a Unix socket? Set the `key` option to identify clients another way";
  return withCode('ERR_ROLLGATE_NO_CLIENT_ADDRESS', new Error(message));
}
