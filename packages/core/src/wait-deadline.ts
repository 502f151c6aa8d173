import { withCode } from './error-codes.js';
import { MAX_TIMER_MS } from './scheduler.js';

/** What ends one `wait` early. */
export interface Deadline {
  /** Aborts with the caller's signal, or when the time is over. */
  readonly signal: AbortSignal;
  /** Removes the listener and the timer. */
  dispose(): void;
}

/**
 * Combines the caller's signal with a timeout, for one call. `AbortSignal.any` does the same, but a signal that outlives the
 * call keeps some memory for every signal that depends on it, and Node has it only since 20.3.
 */
export function createDeadline(signal: AbortSignal | undefined, timeoutMs: number): Deadline {
  const controller = new AbortController();
  const onAbort = () => controller.abort(signal!.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  const onTimeout = () => controller.abort(timeoutError(`The \`timeout\` of ${timeoutMs} ms has passed`));
  const timer = timeoutMs <= MAX_TIMER_MS ? setTimeout(onTimeout, timeoutMs).unref() : undefined;
  return {
    signal: controller.signal,
    dispose() {
      signal?.removeEventListener('abort', onAbort);
      clearTimeout(timer);
    },
  };
}

/** The error of a `wait` whose `timeout` has passed, or will pass first. */
export function timeoutError(message: string): DOMException {
  return withCode('ERR_ROLLGATE_WAIT_TIMEOUT', new DOMException(message, 'TimeoutError'));
}
