import type { Awaitable, Decision } from '@rollgate/core';
import { isThenable, refundInBackground, validateBoolean } from '@rollgate/core/store';
import { withTimeout } from '../errors/with-timeout.js';
import type { ResolvedHttpOptions } from '../options/resolve-options.js';

/** Whether the options may refund a request. */
export function mayRefund(options: ResolvedHttpOptions<never, never>): boolean {
  return options.skipSuccessfulRequests || options.skipFailedRequests || options.skipAbortedRequests;
}

/**
 * Refunds exactly the units of a request whose response has ended, if the options exempt it. An aborted request is neither
 * successful nor failed. Otherwise a client could choose to be refunded.
 *
 * @param status The status of the whole response; `undefined` if the client disconnected before its end.
 * @param response `undefined` if the request failed without one.
 * @returns A promise that resolves when the refund has succeeded or failed, or when there is none. The refund starts at
 * once, unless `requestWasSuccessful` returns a promise.
 */
export async function refundByOptions<Request, Response>(
  options: ResolvedHttpOptions<Request, Response>,
  decision: Decision,
  status: number | undefined,
  request: Request | undefined,
  response: Response | undefined,
): Promise<void> {
  const { skipSuccessfulRequests, skipFailedRequests, skipAbortedRequests, requestWasSuccessful } = options;
  const refund = () => refundInBackground(options.limiter, decision);
  if (status === undefined) return skipAbortedRequests ? refund() : undefined;
  if (!skipSuccessfulRequests && !skipFailedRequests) return;
  try {
    let isSuccess: Awaitable<boolean> = status < 400;
    if (requestWasSuccessful !== undefined && response !== undefined) {
      isSuccess = requestWasSuccessful(request!, response);
      if (isThenable(isSuccess)) isSuccess = await withTimeout('requestWasSuccessful', isSuccess, options.timeout);
      validateBoolean('requestWasSuccessful(request, response)', isSuccess);
    }
    if (isSuccess ? skipSuccessfulRequests : skipFailedRequests) await refund();
  } catch (thrown) {
    options.usageChecks.reportFailure('ROLLGATE_REQUEST_WAS_SUCCESSFUL_FAILED', thrown);
  }
}
