import type { Decision, RateLimiter } from '@rollgate/core';
import { emitWarning } from '@rollgate/core/store';

let hasWarned = false;

/**
 * Releases the leases of a decision that no caller waits for. In a store that fails, they end by themselves.
 *
 * @returns A promise that resolves when the release has succeeded or failed.
 */
export function releaseInBackground(limiter: RateLimiter, decision: Decision): Promise<void> {
  return limiter.release(decision).catch((error: unknown) => {
    if (hasWarned) return;
    hasWarned = true;
    emitWarning(`A release failed, so its leases end later: ${String(error)}`, {
      type: 'RollgateWarning',
      code: 'ROLLGATE_RELEASE_FAILED',
    });
  });
}
