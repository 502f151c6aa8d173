import type { Decision } from '../decision/decision.js';
import type { Key } from '../plan/keys-and-limits.js';
import { channel, debugLog, subscribe } from '../util/platform.js';
import { formatKey } from './limiter-event.js';

// The diagnostics channels of this package. `@rollgate/http` and `@rollgate/fetch` have the others.

export const decisions = channel('rollgate:decision');
export const rejections = channel('rollgate:rejection');
export const storeFailures = channel('rollgate:store:failure');
export const storeRecoveries = channel('rollgate:store:recovery');
export const refundFailures = channel('rollgate:refund:failure');
export const leaseLosses = channel('rollgate:lease:lost');

// Prints a line for each decision while the environment variable `NODE_DEBUG` names `rollgate`.
if (debugLog !== undefined) {
  const log = debugLog('rollgate');
  if (log.enabled) subscribe('rollgate:decision', (event) => log('%s', describeDecision(event as Decided)));
}

interface Decided {
  readonly name: string;
  readonly key: Key;
  readonly decision: Decision;
}

/** Such as `api ann: rejected by burst, retry in 250 ms (burst 0 of 5, day 120 of 1000)`. */
function describeDecision({ name, key, decision }: Decided): string {
  const { allowed, delayMs, degraded, retryAfterMs, violated, exceeded, limits } = decision;
  const outcome = allowed
    ? `allowed${delayMs > 0 ? ` after ${delayMs} ms` : ''}`
    : `rejected by ${violated.join(', ')}, retry in ${retryAfterMs} ms`;
  const figures = Object.entries(limits).map(
    ([limit, { remaining, limit: quota }]) => `${limit} ${remaining} of ${quota}`,
  );
  const excess = exceeded.length === 0 ? '' : `, above ${exceeded.join(', ')}`;
  const policy = degraded === false ? '' : `, while the store fails: ${degraded}`;
  return `${name} ${formatKey(key)}: ${outcome}${excess} (${figures.join(', ')}${policy})`;
}
