import { withCode } from './error-codes.js';

/** The error of a refund whose decision another store made. */
export function foreignDecision(): TypeError {
  const message = 'Expected `decision` to be a decision of this store, got one of another store';
  return withCode('ERR_ROLLGATE_FOREIGN_DECISION', new TypeError(message));
}
