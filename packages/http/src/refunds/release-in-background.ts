import type { Decision, RateLimiter } from '@rollgate/core';
import { emitWarning } from '@rollgate/core/store';

let hasWarned = false;

/**
 * Releases the slots of a decision that no caller waits for. A store that fails frees them when their lease is over.
 *
 * @returns A promise that resolves when the release has succeeded or failed.
 */
export function releaseInBackground(limiter: RateLimiter, decision: Decision): Promise<void> {
  return limiter.release(decision).catch((error: unknown) => {
    if (hasWarned) return;
    hasWarned = true;
    emitWarning(`A release failed, so the slots stay taken until their lease is over: ${String(error)}`, {
      type: 'RollgateWarning',
      code: 'ROLLGATE_RELEASE_FAILED',
    });
  });
}
