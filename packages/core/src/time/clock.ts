import { MAX_TIMER_MS, startBackgroundTimer, type Timer } from '../util/background-timer.js';
import { bindAsyncContext, monotonicMicros, performance, REQUESTS_SHARE_TIMERS } from '../util/platform.js';
import { PriorityQueue, type QueueMember } from '../util/priority-queue.js';
import { withCode } from '../validation/error-codes.js';
import { hasMethods, invalidNumber, invalidOption, messageOf } from '../validation/validate.js';

/** What a clock should return. */
const VALID_TIME = 'Expected `clock.now()` to return a finite number of milliseconds below 2^53 / 1000';

/**
 * Returns the time by which a store decides. Replace it in tests.
 *
 * A clock that steps back by a limit's window or less admits nothing extra, but waits grow by the step. An exception is an
 * expired key that the store has dropped. After a larger step back, a key may start with its full quota again, once per
 * step. Otherwise a single wrong reading could block a key for years.
 */
export interface Clock {
  /** The current time in milliseconds, with fractions down to the microsecond. */
  now(): number;
  /**
   * Calls `callback` at this time of the clock, or soon if the time has passed. Returns a function that cancels the call.
   * If a store's clock has this method, everything that waits for the store follows it. That includes `wait`, delays of a
   * queue, timeouts, and leases. {@link manualClock} has it.
   *
   * @defaultValue real timers
   */
  schedule?(atMs: number, callback: () => void): () => void;
}

/**
 * The default clock, in milliseconds since the Unix epoch. It reads the system time once, when the process starts, and
 * is monotonic from then on. So a change of the system time does not move any window, and neither do the fake timers of
 * a test runner.
 */
export const monotonicClock: Clock = {
  now: () => monotonicMicros() / 1000,
};

/** @throws TypeError if the option is set, and is no clock. */
export function validateClock(clock: unknown): void {
  if (clock === undefined || hasMethods(clock, ['now'])) return;
  throw invalidOption('clock', 'an object with a method `now`', clock);
}

/** Returns the function that reads a clock as {@link readMicros} does. */
export function createReader(clock: Clock): () => number {
  return clock === monotonicClock ? monotonicMicros : () => toMicros(clock);
}

/**
 * Reads a clock in whole microseconds, the unit of every algorithm. Sums and differences of whole numbers are exact, so
 * waits are exact to the microsecond.
 *
 * @throws RangeError if the clock throws or returns anything but a finite number of milliseconds below 2^53 / 1000.
 */
export function readMicros(clock: Clock): number {
  return clock === monotonicClock ? monotonicMicros() : toMicros(clock);
}

function toMicros(clock: Clock): number {
  let ms: number;
  try {
    ms = clock.now();
  } catch (cause) {
    throw invalidTime(`it threw: ${messageOf(cause)}`, { cause });
  }
  const micros = Math.round(ms * 1000);
  if (Number.isSafeInteger(micros)) return micros;
  throw invalidTime(`got ${micros / 1000}`);
}

function invalidTime(but: string, options?: ErrorOptions): Error {
  return withCode('ERR_ROLLGATE_INVALID_CLOCK', new RangeError(`${VALID_TIME}, ${but}`, options));
}

/**
 * When an allowed action starts: the time of its decision plus its delay, in whole microseconds. A count of what a limit
 * allowed within a window counts starts. A sum of milliseconds may be a rounding error too early, and so in a wrong window.
 *
 * @param decidedMs The time by which the store decided, in milliseconds.
 * @param delayMs The decision's `delayMs`.
 */
export function startMicros(decidedMs: number, delayMs: number): number {
  return Math.round(decidedMs * 1000) + Math.round(delayMs * 1000);
}

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
  return (REQUESTS_SHARE_TIMERS ? ofProcess : new Schedule()).add(dueMicros, run);
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
