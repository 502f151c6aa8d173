import { validate } from '@rollgate/core/store';

/**
 * What a user's function or a store threw, as an error. Frameworks take `undefined`, and Express `'route'`, for "go on":
 * a failure must never let a request through.
 */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const isErrorLike = typeof thrown === 'object' && thrown !== null && 'message' in thrown;
  if (isErrorLike) return thrown as Error; // Of another realm, or a library's own.
  return new Error(`The rate limiter could not decide: ${validate.show(thrown)} was thrown`, { cause: thrown });
}

/** That nobody can be counted, for want of an address. */
export function noAddress(): Error {
  return new Error(
    'The request has no client address, so nobody to count it for: does the server listen on a socket that is no TCP socket? Give the option `key` to count by something else',
  );
}
