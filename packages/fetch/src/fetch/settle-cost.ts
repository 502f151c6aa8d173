import { emitWarning } from '@rollgate/core/store';
import type { CallRequest } from '../dialects/dialect.js';
import type { CallCost, FetchOptions } from '../options/fetch-options.js';

let hasWarned = false;

/** Returns the actual cost of a call. If `settle` fails, the estimate stays, and the process emits one warning. */
export async function settleCost(
  settle: NonNullable<FetchOptions['settle']>,
  response: Response,
  request: CallRequest,
): Promise<CallCost> {
  try {
    return await settle(response, request);
  } catch (error) {
    if (!hasWarned) {
      const message = `The option \`settle\` of createFetch failed, so a call counts as estimated: ${String(error)}`;
      emitWarning(message, { type: 'RollgateWarning', code: 'ROLLGATE_SETTLE_FAILED' });
    }
    hasWarned = true;
    return {};
  }
}
