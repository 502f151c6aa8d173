import type { Awaitable, Decision, RateLimiter } from '@rollgate/core';
import { isThenable, refundInBackground, validateBoolean } from '@rollgate/core/store';
import { withTimeout } from '../errors/with-timeout.js';
import type { UsageChecks } from '../warnings/usage-checks.js';

/** Which requests to refund once their response has ended. */
export interface RefundRules<Request, Response> {
  readonly skipSuccessfulRequests: boolean;
  readonly skipFailedRequests: boolean;
  readonly skipAbortedRequests: boolean;
  /** Without it, a response with a status below 400 is a success. If it fails, the request stays counted. */
  readonly requestWasSuccessful?: ((request: Request, response: Response) => Awaitable<boolean>) | undefined;
  /** How long the promise of `requestWasSuccessful` may take, in milliseconds. */
  readonly timeout: number;
  readonly limiter: RateLimiter;
  readonly usageChecks: UsageChecks;
}

/** Whether the rules may refund a request. */
export function mayRefund(rules: RefundRules<never, never>): boolean {
  return rules.skipSuccessfulRequests || rules.skipFailedRequests || rules.skipAbortedRequests;
}

/**
 * Refunds exactly the units of a request whose response has ended, if the rules exempt it. An aborted request is neither
 * successful nor failed. Otherwise a client could choose to be refunded.
 *
 * @param status The status of the whole response; `undefined` if the client disconnected before its end.
 * @param response `undefined` if the request failed without one.
 * @returns A promise that resolves when the refund has succeeded or failed, or when there is none. The refund starts at
 * once, unless `requestWasSuccessful` returns a promise.
 */
export async function refundByRules<Request, Response>(
  rules: RefundRules<Request, Response>,
  decision: Decision,
  status: number | undefined,
  request: Request | undefined,
  response: Response | undefined,
): Promise<void> {
  const { skipSuccessfulRequests, skipFailedRequests, skipAbortedRequests, requestWasSuccessful } = rules;
  const refund = () => refundInBackground(rules.limiter, decision);
  if (status === undefined) return skipAbortedRequests ? refund() : undefined;
  if (!skipSuccessfulRequests && !skipFailedRequests) return;
  try {
    let isSuccess: Awaitable<boolean> = status < 400;
    if (requestWasSuccessful !== undefined && response !== undefined) {
      isSuccess = requestWasSuccessful(request!, response);
      if (isThenable(isSuccess)) isSuccess = await withTimeout('requestWasSuccessful', isSuccess, rules.timeout);
      validateBoolean('requestWasSuccessful(request, response)', isSuccess);
    }
    if (isSuccess ? skipSuccessfulRequests : skipFailedRequests) await refund();
  } catch (thrown) {
    rules.usageChecks.reportFailure('ROLLGATE_REQUEST_WAS_SUCCESSFUL_FAILED', thrown);
  }
}
