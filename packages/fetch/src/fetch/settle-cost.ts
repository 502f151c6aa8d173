import { MAX_TIMER_MS, timersOf } from '@rollgate/core/store';
import { validateCost } from '../calls/returned-records.js';
import type { CallRequest } from '../dialects/dialect.js';
import type { CallCost, FetchOptions } from '../options/fetch-options.js';
import type { ResolvedFetchOptions } from '../options/resolve-options.js';
import { warnOfError } from '../warn-of-error.js';
import { copyForSettle, type SettleCopy } from './copy-for-settle.js';

type Settle = NonNullable<FetchOptions['settle']>;
type SettleOptions = Pick<ResolvedFetchOptions, 'maxBlockMs' | 'clock'>;

/**
 * Returns the actual cost of a call. If `settle` fails or takes too long, the estimate stays, and the process emits one warning. It
 * emits none if the body has ended early.
 */
export async function settleCost(
  settle: Settle,
  response: Response,
  request: CallRequest,
  options: SettleOptions,
): Promise<CallCost> {
  let copy: SettleCopy | undefined;
  try {
    copy = copyForSettle(response);
    return validateCost('settle', await withinBound(settle(copy.response, request), options));
  } catch (error) {
    if (copy?.isBroken()) return {};
    const message = 'The option `settle` of createFetch failed, so a call counts as estimated';
    warnOfError('ROLLGATE_SETTLE_FAILED', message, error);
    return {};
  } finally {
    copy?.end();
  }
}

/** Rejects if `settle` takes too long. A call must not stay open forever, because it may have slots. */
async function withinBound(cost: ReturnType<Settle>, { maxBlockMs, clock }: SettleOptions): Promise<CallCost> {
  let cancelTimer = () => {};
  const timeout = new Promise<never>((_, reject) => {
    const onEnd = () => reject(timeoutError(maxBlockMs));
    // Only a timer of the platform has a longest delay.
    const boundMs = clock === undefined ? Math.min(maxBlockMs, MAX_TIMER_MS) : maxBlockMs;
    cancelTimer = timersOf(clock).inBackground(boundMs, onEnd);
  });
  return Promise.race([cost, timeout]).finally(() => cancelTimer());
}

function timeoutError(ms: number): Error {
  return new DOMException(`it has not returned after ${ms} ms (\`maxBlock\`)`, 'TimeoutError');
}
