import { bindAsyncContext, performance } from './platform.js';
import { invalidNumber } from './validate.js';

// The counterpart of `scheduler.ts` for platforms other than Node. Each callback has its own timer, because some
// platforms cancel the timers of a request when the request ends.

/** The longest delay of a timer, about 24.8 days. A longer wait takes several timers. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Like `scheduleAfter` of Node, without an order between callbacks that become due in the same millisecond. */
export function scheduleAfter(delayMs: number, callback: () => void): () => void {
  if (!Number.isFinite(delayMs) || delayMs < 0) throw invalidNumber('delayMs', 'a finite number from 0', delayMs);
  const run = bindAsyncContext(callback);
  const dueMs = performance.now() + delayMs;
  let timer: ReturnType<typeof setTimeout>;
  const runWhenDue = () => {
    const leftMs = dueMs - performance.now();
    // A timer may be early, by up to a millisecond or during a long wait. Then this sets it again.
    if (leftMs <= 0) run();
    else timer = setTimeout(runWhenDue, Math.min(Math.ceil(leftMs), MAX_TIMER_MS));
  };
  timer = setTimeout(runWhenDue, Math.min(Math.ceil(delayMs), MAX_TIMER_MS));
  return () => clearTimeout(timer);
}

/** Callbacks have no order here, so none has to wait for a late one. */
export const isLate: (() => boolean) | undefined = undefined;
