import { MAX_TIMER_MS, type Timer } from '../util/background-timer.js';
import { bindAsyncContext, performance, REQUESTS_SHARE_TIMERS } from '../util/platform.js';
import { PriorityQueue, type QueueMember } from '../util/priority-queue.js';
import { invalidNumber } from '../validation/validate.js';

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

  add(scheduled: Scheduled, dueMicros: number): void {
    this.#queue.set(scheduled, dueMicros);
    this.#setTimer();
  }

  remove(scheduled: Scheduled): void {
    this.#queue.remove(scheduled);
    this.#setTimer();
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

const ofProcess = new Schedule();

/**
 * Calls `callback`, in the caller's async context, once `delayMs` milliseconds have passed, but never before. Where requests share
 * timers, callbacks run in the order of their times, even when the process is late for several. A pending callback keeps the
 * process alive.
 *
 * @param delayMs Milliseconds, of any length.
 * @param startMs The time from which they count.
 * @returns A function that cancels the callback. After the callback has run, it does nothing.
 * @throws TypeError, RangeError if `delayMs` is not a finite number from 0.
 */
export function scheduleAfter(delayMs: number, callback: () => void, startMs: number): () => void {
  // The whole process shares one queue, and a NaN would destroy its order.
  if (!Number.isFinite(delayMs) || delayMs < 0) throw invalidNumber('delayMs', 'a finite number from 0', delayMs);
  const schedule = REQUESTS_SHARE_TIMERS ? ofProcess : new Schedule();
  const scheduled = new Scheduled(bindAsyncContext(callback));
  schedule.add(scheduled, Math.round(startMs * 1000) + Math.ceil(delayMs * 1000));
  return function cancel() {
    schedule.remove(scheduled);
  };
}

/** Read like this, fake timers of a test runner move it together with the timer. */
function currentMicros(): number {
  return Math.round(performance.now() * 1000);
}
