import type { Decision, RateLimiter } from '@rollgate/core';
import { refundInBackground, scheduleAfter } from '@rollgate/core/store';

/** Waits until a request in a queue starts. If the client disconnects before, it refunds the request and rejects. */
export function waitForStart(limiter: RateLimiter, decision: Decision, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      cancel();
      // Until it rejects, the platform keeps this code running.
      refundInBackground(limiter, decision).then(() => reject(signal!.reason));
    };
    const onStart = () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    };
    const cancel = scheduleAfter(decision.delayMs, onStart, limiter.clock);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort);
  });
}
