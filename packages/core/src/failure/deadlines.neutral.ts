import { realTimers, type Timers } from '../time/clock-timers.js';
import type { TimedCall } from './timed-call.js';

// The counterpart of `deadlines.ts` for platforms other than Node. Each call has its own timer, because some platforms cancel
// the timers of a request when the request ends.

/** The deadlines of calls that all have the same timeout. */
export class Deadlines {
  constructor(
    /** How long a call may take. */
    readonly timeoutMs: number,
    /** The time of the store's clock. */
    readonly timers: Timers = realTimers,
  ) {}

  /** Starts a call. Its deadline is `timeoutMs` from now. */
  start(call: TimedCall): void {
    call.dueMs = this.timers.clock.now() + this.timeoutMs;
    call.cancelTimer = this.timers.inBackground(this.timeoutMs, () => {
      if (this.settle(call)) call.onTimeout();
    });
  }

  /** Settles the call. Returns whether it was pending, so only the first caller gets `true`. */
  settle(call: TimedCall): boolean {
    if (call.isSettled) return false;
    call.isSettled = true;
    call.cancelTimer?.();
    return true;
  }
}
