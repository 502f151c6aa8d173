import type { CallRequest } from '../dialects/dialect.js';
import type { CallCost, FetchOptions } from '../options/fetch-options.js';
import { validateCost } from '../options/validate-cost.js';
import { warnOfError } from '../warn-of-error.js';
import { copyForSettle, type SettleCopy } from './copy-for-settle.js';

/**
 * Returns the actual cost of a call. If `settle` fails, the estimate stays, and the process emits one warning. It emits none if the
 * caller has canceled the body.
 */
export async function settleCost(
  settle: NonNullable<FetchOptions['settle']>,
  response: Response,
  request: CallRequest,
): Promise<CallCost> {
  let copy: SettleCopy | undefined;
  try {
    copy = copyForSettle(response);
    return validateCost('settle', await settle(copy.response, request));
  } catch (error) {
    if (copy?.isCanceled()) return {};
    const message = 'The option `settle` of createFetch failed, so a call counts as estimated';
    warnOfError('ROLLGATE_SETTLE_FAILED', message, error);
    return {};
  } finally {
    copy?.end();
  }
}
