import { type Coded, withCode } from './error-codes.js';
import { LIMITER_CLOSED, NEVER_ALLOWED, tooManyWaitingMessage } from './error-texts.js';

/** Creates the error of a `wait` that no passing of time allows. */
export function neverAllowed(): RangeError & Coded {
  return withCode('ERR_ROLLGATE_NEVER_ALLOWED', new RangeError(NEVER_ALLOWED));
}

/** Creates the error of a `wait` whose queue already has `maxWaiting` callers. */
export function tooManyWaiting(maxWaiting: number): Error & Coded {
  return withCode('ERR_ROLLGATE_TOO_MANY_WAITING', new Error(tooManyWaitingMessage(maxWaiting)));
}

/** Creates the error of a `wait` whose limiter is closed. */
export function limiterClosed(): Error & Coded {
  return withCode('ERR_ROLLGATE_LIMITER_CLOSED', new Error(LIMITER_CLOSED));
}
