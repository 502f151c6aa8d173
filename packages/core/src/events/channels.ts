import { channel, debugLog } from '../util/platform.js';
import { logDecisions } from './log-decisions.js';

// The diagnostics channels of this package. `@rollgate/http` and `@rollgate/fetch` have the others.

export const decisions = channel('rollgate:decision');
export const rejections = channel('rollgate:rejection');
export const storeFailures = channel('rollgate:store:failure');
export const storeRecoveries = channel('rollgate:store:recovery');
export const refundFailures = channel('rollgate:refund:failure');
export const leaseLosses = channel('rollgate:lease:lost');

// Prints decisions while the environment variable `NODE_DEBUG` names `rollgate`.
if (debugLog !== undefined) logDecisions(debugLog('rollgate'));
