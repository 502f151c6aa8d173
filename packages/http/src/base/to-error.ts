import { formatValue, withCode } from '@rollgate/core/store';
import type { RequestReader } from './host.js';

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

/** Returns the error for a request without a client address. */
export function missingAddressError({ ownOptions }: RequestReader<never>): Error {
  const advice = ownOptions.includes('address')
    ? 'Set the `address` option to a function that returns it on your platform, or the `key` option'
    : 'Is the server listening on a Unix socket? Set the `key` option';
  const message = `Cannot determine the client's IP address. ${advice} to identify clients another way`;
  return withCode('ERR_ROLLGATE_NO_CLIENT_ADDRESS', new Error(message));
}
