import { MAX_TIMER_MS, startBackgroundTimer, type Timer } from '../util/background-timer.js';
import { bindAsyncContext, performance, REQUESTS_SHARE_TIMERS } from '../util/platform.js';
import { PriorityQueue, type QueueMember } from '../util/priority-queue.js';
import { invalidNumber } from '../validation/validate.js';
import type { Clock } from './clock.js';

/** A callback that waits for its time. */
class Scheduled implements QueueMember {
  priority = 0;
  queueIndex = -1;
  constructor(readonly run: () => void) {}
}

/** Callbacks that share a timer. With one timer per callback, Node could run late ones in the wrong order. */
class Schedule {
  readonly #queue = new PriorityQueue<Scheduled>();
  #timer: Timer | undefined;
  /** The callback for which the timer is set. */
  #next: Scheduled | undefined;

  /** Calls `run` when it is due, and returns a function that cancels it. */
  add(dueMicros: number, run: () => void): () => void {
    const scheduled = new Scheduled(run);
    this.#queue.set(scheduled, dueMicros);
    this.#setTimer();
    return () => {
      this.#queue.remove(scheduled);
      this.#setTimer();
    };
  }

  #setTimer(): void {
    const { first } = this.#queue;
    if (first === this.#next) return;
    clearTimeout(this.#timer);
    this.#next = first;
    if (first === undefined) return;
    const leftMs = Math.ceil((first.priority - currentMicros()) / 1000);
    this.#timer = setTimeout(() => this.#runDue(), Math.min(leftMs, MAX_TIMER_MS));
  }

  /** A timer may be early, by up to a millisecond or during a long wait. Then this only sets it again. */
  #runDue(): void {
    this.#next = undefined;
    const nowMicros = currentMicros();
    const queue = this.#queue;
    try {
      for (let { first } = queue; first !== undefined && first.priority <= nowMicros; first = queue.first) {
        queue.remove(first);
        first.run();
      }
    } finally {
      this.#setTimer(); // Even if a callback throws, because the others must still run.
    }
  }
}

const ofProcess = /* @__PURE__ */ new Schedule();

/** Schedules a call on real time, a delay after `startMs`, as {@link scheduleAfter} does from now on. */
function scheduleOnRealTime(delayMs: number, callback: () => void, startMs: number): () => void {
  // The whole process shares one queue, and a NaN would destroy its order.
  if (!Number.isFinite(delayMs) || delayMs < 0) throw invalidNumber('delayMs', 'a finite number from 0', delayMs);
  const run = bindAsyncContext(callback);
  const dueMicros = Math.round(startMs * 1000) + Math.ceil(delayMs * 1000);
  return REQUESTS_SHARE_TIMERS ? ofProcess.add(dueMicros, run) : runAt(dueMicros, run);
}

/** Calls `run` when it is due, with a timer of its own, which may be early. */
function runAt(dueMicros: number, run: () => void): () => void {
  let timer: Timer;
  const setTimer = () => {
    const leftMs = Math.ceil((dueMicros - currentMicros()) / 1000);
    timer = setTimeout(() => (currentMicros() < dueMicros ? setTimer() : run()), Math.min(leftMs, MAX_TIMER_MS));
  };
  setTimer();
  return () => clearTimeout(timer);
}

/** Read like this, fake timers of a test runner move it together with the timer. */
function currentMicros(): number {
  return Math.round(performance.now() * 1000);
}

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
 * Calls `callback`, in the caller's async context, once `delayMs` milliseconds have passed, but never before. Where requests
 * share timers, callbacks run in the order of their times, even when the process is late for several. A pending callback keeps the process
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
