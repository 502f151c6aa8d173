import { withCode } from './error-codes.js';
import { unsupportedMessage } from './error-texts.js';

/** Creates the error of an operation for which the store lacks an optional method. */
export function unsupported(method: string): TypeError {
  return withCode('ERR_ROLLGATE_UNSUPPORTED_OPERATION', new TypeError(unsupportedMessage(method)));
}
