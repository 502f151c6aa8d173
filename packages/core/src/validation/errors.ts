import { type Coded, withCode } from './error-codes.js';
import {
  LIMITER_CLOSED,
  NEVER_ALLOWED,
  neverAllowedByMessage,
  tooManyWaitingMessage,
  unsupportedMessage,
} from './error-texts.js';

/**
 * Creates the error of a `wait` that no passing of time allows.
 *
 * @param limit The name of a limit of 0, if one rejects.
 */
export function neverAllowed(limit?: string): RangeError & Coded {
  const message = limit === undefined ? NEVER_ALLOWED : neverAllowedByMessage(limit);
  return withCode('ERR_ROLLGATE_NEVER_ALLOWED', new RangeError(message));
}

/** Creates the error of a `wait` whose queue already has `maxWaiting` callers. */
export function tooManyWaiting(maxWaiting: number): Error & Coded {
  return withCode('ERR_ROLLGATE_TOO_MANY_WAITING', new Error(tooManyWaitingMessage(maxWaiting)));
}

/** Creates the error of a `wait` whose limiter is closed. */
export function limiterClosed(): Error & Coded {
  return withCode('ERR_ROLLGATE_LIMITER_CLOSED', new Error(LIMITER_CLOSED));
}

/** Creates the error of an operation for which the store lacks an optional method. */
export function unsupported(method: string): TypeError {
  return withCode('ERR_ROLLGATE_UNSUPPORTED_OPERATION', new TypeError(unsupportedMessage(method)));
}

/** Creates the error of a `refund` whose decision another store made. `expected` names the decisions that the store accepts. */
export function foreignDecision(expected = 'a decision of this store'): TypeError {
  const message = `Expected \`decision\` to be ${expected}, got one of another store`;
  return withCode('ERR_ROLLGATE_FOREIGN_DECISION', new TypeError(message));
}
