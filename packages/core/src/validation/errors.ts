import { type Coded, withCode } from './error-codes.js';
import { invalidOption, optionError } from './validate.js';

/**
 * Creates the error of a `wait` that no passing of time allows.
 *
 * @param limit The name of a limit of 0, if one rejects.
 */
export function neverAllowed(limit?: string): RangeError & Coded {
  const cause =
    limit === undefined
      ? 'its `cost` exceeds a limit, or its key is blocked until a reset'
      : `the limit \`${limit}\` is 0, which rejects everything`;
  return withCode('ERR_ROLLGATE_NEVER_ALLOWED', new RangeError(`This call can never succeed: ${cause}`));
}

/** Creates the error of a `wait` whose queue already has `maxWaiting` callers. */
export function tooManyWaiting(maxWaiting: number): Error & Coded {
  const message = `Expected at most ${maxWaiting} callers to wait in one queue (\`maxWaiting\`), and as many wait already. Raise \`maxWaiting\`, or try again later`;
  return withCode('ERR_ROLLGATE_TOO_MANY_WAITING', new Error(message));
}

/** Creates the error of a `wait` whose limiter is closed. */
export function limiterClosed(): Error & Coded {
  const message = 'Expected the limiter to stay open until the call is allowed, but `close` was called';
  return withCode('ERR_ROLLGATE_LIMITER_CLOSED', new Error(message));
}

/** Creates the error of an operation for which the store lacks an optional method. */
export function unsupported(method: string): TypeError {
  const message = `Expected the store to have the method \`${method}\`, got a store without it`;
  return withCode('ERR_ROLLGATE_UNSUPPORTED_OPERATION', new TypeError(message));
}

/** Creates the error of a `refund` whose decision another store made. `expected` names the decisions that the store accepts. */
export function foreignDecision(expected = 'a decision of this store'): TypeError {
  const message = `Expected \`decision\` to be ${expected}, got one of another store`;
  return withCode('ERR_ROLLGATE_FOREIGN_DECISION', new TypeError(message));
}

/** Creates the error of `limits` together with options of one rolling window. */
export function mixedLimits(options: readonly string[]): TypeError {
  const message = `Expected either \`limits\` or the settings of one rolling window, got \`limits\` and \`${options.join('`, `')}\`. Remove one of them, or write all into \`rollingWindow({ … })\``;
  return optionError(message);
}

/** What each limit should be. */
export const LIMIT = "a limit such as '100/1m' or `rollingWindow({ … })`";

/** Creates the error of `limits` that are neither a limit nor a record of limits. */
export function invalidLimits(limits: unknown): TypeError {
  return invalidOption('limits', `${LIMIT}, or a record of at least one`, limits);
}
