import type { CallRequest } from '../dialects/dialect.js';
import type { CallCost, FetchOptions } from '../options/fetch-options.js';
import { validateCost } from '../options/validate-cost.js';
import { warnOfError } from '../warn-of-error.js';

/** Returns the actual cost of a call. If `settle` fails, the estimate stays, and the process emits one warning. */
export async function settleCost(
  settle: NonNullable<FetchOptions['settle']>,
  response: Response,
  request: CallRequest,
): Promise<CallCost> {
  try {
    return validateCost('settle', await settle(response, request));
  } catch (error) {
    const message = 'The option `settle` of createFetch failed, so a call counts as estimated';
    warnOfError('ROLLGATE_SETTLE_FAILED', message, error);
    return {};
  }
}
