import { MAX_TIMER_MS } from '../base/background-timer.js';
import { bindAsyncContext, performance } from '../base/platform.js';
import { invalidNumber } from '../validation/validate.js';

// The counterpart of `scheduler.ts` for platforms other than Node. Each callback has its own timer, because some
// platforms cancel the timers of a request when the request ends.

/** Like `scheduleAfter` of Node, without an order between callbacks that become due in the same millisecond. */
export function scheduleAfter(delayMs: number, callback: () => void, startMs: number): () => void {
  if (!Number.isFinite(delayMs) || delayMs < 0) throw invalidNumber('delayMs', 'a finite number from 0', delayMs);
  const run = bindAsyncContext(callback);
  const dueMs = startMs + delayMs;
  let timer: ReturnType<typeof setTimeout>;
  const setTimer = () => {
    timer = setTimeout(runWhenDue, Math.min(Math.ceil(dueMs - performance.now()), MAX_TIMER_MS));
  };
  const runWhenDue = () => {
    // A timer may be early, by up to a millisecond or during a long wait. Then this sets it again.
    if (performance.now() >= dueMs) run();
    else setTimer();
  };
  setTimer();
  return () => clearTimeout(timer);
}
