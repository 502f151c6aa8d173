import { withCode } from './error-codes.js';

/** Creates the error of an operation for which the store lacks an optional method. */
export function unsupported(method: string): TypeError {
  const message = `Expected the store to have the method \`${method}\`, got a store without it`;
  return withCode('ERR_ROLLGATE_UNSUPPORTED_OPERATION', new TypeError(message));
}
