import { MAX_TIMER_MS, startBackgroundTimer } from '../util/background-timer.js';
import { bindAsyncContext, performance } from '../util/platform.js';
import type { Clock } from './clock.js';
import { scheduleAfter as scheduleOnRealTime } from './scheduler.js';

/** The time by which callers wait, and its timers. All times are milliseconds. */
export interface Timers {
  /** Reads the time. An object, because each call of a store reads it, and `performance` does that without another call. */
  readonly clock: Pick<Clock, 'now'>;
  /** Whether the time passes in steps, each of which may pass several times at which something is due. */
  readonly isStepped: boolean;
  /**
   * The time of a reply that has just come, to a call that was sent at `sentMs`. A clock that only a test advances stands
   * still while a store decides, whatever its time is now.
   */
  replyMs(sentMs: number): number;
  /** Calls `callback` once `delayMs` have passed since `startMs`, and returns a function that cancels it. */
  after(delayMs: number, callback: () => void, startMs: number): () => void;
  /** Like `after`, from now on, with a timer that does not keep the process alive. */
  inBackground(delayMs: number, callback: () => void): () => void;
}

/** Real time, for stores whose clock has no `schedule`. */
export const realTimers: Timers = {
  clock: performance,
  isStepped: false,
  replyMs: () => performance.now(),
  after: scheduleOnRealTime,
  inBackground(delayMs, callback) {
    const timer = delayMs <= MAX_TIMER_MS ? startBackgroundTimer(callback, delayMs) : undefined;
    return () => clearTimeout(timer);
  },
};

/** Returns the timers of a store's clock, or real ones if it has none. */
export function timersOf(clock: Clock | undefined): Timers {
  if (clock?.schedule === undefined) return realTimers;
  const after: Timers['after'] = (delayMs, callback, startMs) =>
    clock.schedule!(startMs + delayMs, bindAsyncContext(callback));
  return {
    clock,
    isStepped: true,
    replyMs: (sentMs) => sentMs,
    after,
    inBackground: (delayMs, callback) => after(delayMs, callback, clock.now()),
  };
}

/**
 * Calls `callback`, in the caller's async context, once `delayMs` milliseconds have passed, but never before. Callbacks
 * run in the order of their times, even when the process is late for several. A pending callback keeps the process
 * alive. A `clock` with the method `schedule` determines the time.
 *
 * @param delayMs Milliseconds, of any length.
 * @returns A function that cancels the callback. After the callback has run, it does nothing.
 * @throws TypeError, RangeError if `delayMs` is not a finite number from 0.
 */
export function scheduleAfter(delayMs: number, callback: () => void, clock?: Clock): () => void {
  const timers = timersOf(clock);
  return timers.after(delayMs, callback, timers.clock.now());
}
