import { withCode } from '../validation/error-codes.js';

/** Creates the error of a `refund` whose decision another store made. `expected` names the decisions that the store accepts. */
export function foreignDecision(expected = 'a decision of this store'): TypeError {
  const message = `Expected \`decision\` to be ${expected}, got one of another store`;
  return withCode('ERR_ROLLGATE_FOREIGN_DECISION', new TypeError(message));
}
