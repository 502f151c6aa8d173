import type { Awaitable, Decision, RateLimiter } from '@rollgate/core';
import { isThenable, refundInBackground, validateBoolean } from '@rollgate/core/store';
import { mapWithTimeout } from '../base/with-timeout.js';

/** Which requests to refund once their response has ended. */
export interface RefundRules<Request, Response> {
  readonly skipSuccessful: boolean;
  readonly skipFailed: boolean;
  readonly skipAborted: boolean;
  /** The option `requestWasSuccessful`. Without it, a response with a status below 400 is a success. */
  readonly wasSuccessful: ((request: Request, response: Response) => Awaitable<boolean>) | undefined;
  /** How long the promise of `wasSuccessful` may take. */
  readonly timeoutMs: number;
  /** Called when `wasSuccessful` fails. The request then stays counted. */
  readonly onError: (thrown: unknown) => void;
}

/**
 * Refunds a request whose response has ended, if the rules exempt it.
 *
 * @param status The status of the whole response; `undefined` if the client disconnected before its end.
 * @returns A promise that resolves when the refund has succeeded or failed, unless there is none.
 */
export function refundByRules<Request, Response>(
  limiter: RateLimiter,
  rules: RefundRules<Request, Response>,
  decision: Decision,
  request: Request,
  response: Response,
  status: number | undefined,
): Awaitable<void> {
  if (status === undefined) return rules.skipAborted ? refundInBackground(limiter, decision) : undefined;
  if (!rules.skipSuccessful && !rules.skipFailed) return undefined;
  const settle = (result: boolean) => {
    const isSuccess = validateBoolean('requestWasSuccessful(request, response)', result);
    return (isSuccess ? rules.skipSuccessful : rules.skipFailed) ? refundInBackground(limiter, decision) : undefined;
  };
  try {
    const result = rules.wasSuccessful === undefined ? status < 400 : rules.wasSuccessful(request, response);
    const settled = mapWithTimeout('requestWasSuccessful', rules.timeoutMs, result, settle);
    return isThenable(settled) ? settled.then(undefined, rules.onError) : undefined;
  } catch (thrown) {
    return rules.onError(thrown);
  }
}
