import { withCode } from '@rollgate/core/store';

/** Creates the error for options that contradict each other, or that do not fit where they are used. */
export function optionError(message: string, options?: ErrorOptions): TypeError {
  return withCode('ERR_ROLLGATE_INVALID_OPTION', new TypeError(message, options));
}
