import { StoreError } from '@rollgate/core';
import { formatValue, withCode } from '@rollgate/core/store';

/**
 * Converts what an option function or a store threw to an error. Frameworks continue with a request when they get
 * `undefined` instead of an error, and Express when it gets `'route'`. So a failure could otherwise allow a request.
 */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const isErrorLike = typeof thrown === 'object' && thrown !== null && 'message' in thrown;
  if (isErrorLike) return thrown as Error; // From another realm, or a library's own kind of error.
  const message = `Expected option functions and stores to throw errors, got ${formatValue(thrown)}. Throw an \`Error\` instead`;
  return withCode('ERR_ROLLGATE_NOT_AN_ERROR', new Error(message, { cause: thrown }));
}

/**
 * Replaces the error of a store by one that frameworks may show to clients, because its message may contain the address of a
 * database. The status is where frameworks look for it.
 */
export function hideStore(error: Error): Error {
  if (!(error instanceof StoreError)) return error;
  const unavailable = new StoreError('The store of the rate limiter is unavailable', { cause: error });
  return Object.assign(unavailable, { status: 503, statusCode: 503 });
}
