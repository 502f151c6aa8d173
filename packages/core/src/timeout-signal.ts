import { startBackgroundTimer } from './background-timer.js';
import { withCode } from './error-codes.js';
import { MAX_TIMER_MS } from './scheduler.js';

/** Ends one `wait` early. */
export interface Deadline {
  /** Aborts with the caller's signal, or when the timeout has passed. */
  readonly signal: AbortSignal;
  /** Removes the listener and the timer. */
  dispose(): void;
}

/**
 * Combines the caller's signal with a timeout in milliseconds, for one call. `AbortSignal.any` exists only since Node
 * 20.3, and a signal that outlives the call then keeps memory for each dependent signal.
 */
export function createDeadline(signal: AbortSignal | undefined, timeoutMs: number): Deadline {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal!.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  const onTimeout = () =>
    controller.abort(timeoutError(`Timed out: the call waited for ${timeoutMs} ms (\`timeout\`)`));
  const timer = timeoutMs <= MAX_TIMER_MS ? startBackgroundTimer(onTimeout, timeoutMs) : undefined;
  return {
    signal: controller.signal,
    dispose() {
      signal?.removeEventListener('abort', onAbort);
      clearTimeout(timer);
    },
  };
}

/** Creates the error of a `wait` whose `timeout` has passed, or will pass before the action is allowed. */
export function timeoutError(message: string): DOMException {
  return withCode('ERR_ROLLGATE_WAIT_TIMEOUT', new DOMException(message, 'TimeoutError'));
}
