import { onAbort } from '../base/abort-listeners.js';
import { withCode } from '../validation/error-codes.js';
import type { Timers } from './clock-timers.js';

/** Ends one `wait` early. */
export interface Deadline {
  /** Aborts with the caller's signal, or when the timeout has passed. */
  readonly signal: AbortSignal;
  /** The time by which the caller waits. */
  readonly timers: Timers;
  /**
   * Throws unless the timeout allows a wait of so many milliseconds, which a decision after `sinceMs` has reported.
   *
   * @throws DOMException, a `TimeoutError`.
   */
  throwIfPast(waitMs: number, sinceMs: number): void;
  /** Ends the call with this error. */
  abort(reason: Error): void;
  /** Removes the listener and the timer. */
  dispose(): void;
}

/**
 * Combines the caller's signal with a timeout in milliseconds, for one call. `AbortSignal.any` exists only since Node
 * 20.3, and a signal that outlives the call then keeps memory for each dependent signal.
 */
export function createDeadline(signal: AbortSignal | undefined, timeoutMs: number, timers: Timers): Deadline {
  const controller = new AbortController();
  const dueMs = timers.now() + timeoutMs;
  const abort = () => controller.abort(signal!.reason);
  if (signal?.aborted) abort();
  const stopListening = signal === undefined || signal.aborted ? undefined : onAbort(signal, abort);
  const onTimeout = () =>
    controller.abort(timeoutError(`Timed out: the call waited for ${timeoutMs} ms (\`timeout\`)`));
  const cancel = timeoutMs === Infinity ? undefined : timers.inBackground(timeoutMs, onTimeout);
  return {
    signal: controller.signal,
    timers,
    throwIfPast(waitMs, sinceMs) {
      if (timers.startOfDelays(sinceMs) + waitMs <= dueMs) return;
      throw timeoutError(`Timed out: the earliest possible start is in ${Math.ceil(waitMs)} ms, after the \`timeout\``);
    },
    abort: (reason) => controller.abort(reason),
    dispose() {
      stopListening?.();
      cancel?.();
    },
  };
}

/** Creates the error of a `wait` whose limiter is closed. */
export function limiterClosed(): Error {
  const message = 'Expected the limiter to stay open until the call is allowed, but `close` was called';
  return withCode('ERR_ROLLGATE_LIMITER_CLOSED', new Error(message));
}

/** Creates the error of a `wait` whose `timeout` has passed, or will pass before the action is allowed. */
function timeoutError(message: string): DOMException {
  return withCode('ERR_ROLLGATE_WAIT_TIMEOUT', new DOMException(message, 'TimeoutError'));
}
