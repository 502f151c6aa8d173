import { realTimers, type Timers } from '../time/clock-timers.js';
import type { Timer } from '../util/background-timer.js';
import { afterPoll, performance, REQUESTS_SHARE_TIMERS } from '../util/platform.js';

/** A timer that is this late shows that the process was blocked or suspended. */
const LONG_PAUSE_MS = 25;
/** Time for such a process to read from its sockets. */
const GRACE_MS = 25;

/** Stands for a timer of the store's clock, which never keeps the process alive. */
const CLOCK_TIMER = { ref() {}, unref() {} } as unknown as Timer;

/**
 * The deadlines of calls that all have the same timeout, so that they expire in the order of the calls. One timer
 * serves all calls. It keeps the process alive only while a call is pending.
 */
export class Deadlines {
  /** The pending calls, oldest first. A settled call leaves the list at once, so that it does not stay in memory. */
  #first: TimedCall | undefined;
  #last: TimedCall | undefined;
  #timer: Timer | undefined;

  constructor(
    /** How long a call may take. */
    readonly timeoutMs: number,
    /** The time of the store's clock. */
    readonly timers: Timers = realTimers,
  ) {}

  /** Starts a call. Its deadline is `timeoutMs` from now. */
  start(call: TimedCall): void {
    call.dueMs = this.timers.clock.now() + this.timeoutMs;
    if (this.#first === undefined) {
      this.#first = call;
      this.#timer?.ref();
    } else {
      this.#last!.next = call;
      call.previous = this.#last;
    }
    this.#last = call;
    this.#timer ??= this.#startTimer(this.timeoutMs);
  }

  /** Settles the call. Returns whether it was pending, so only the first caller gets `true`. */
  settle(call: TimedCall): boolean {
    if (call.isSettled) return false;
    call.isSettled = true;
    const { previous, next } = call;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // A settled call that the garbage collector has kept would keep all later ones.
    call.previous = call.next = undefined;
    if (this.#first === undefined) {
      // Setting a timer for each call costs more than a timer that finds nothing to do.
      if (REQUESTS_SHARE_TIMERS) this.#timer?.unref();
      else clearTimeout(this.#timer);
    }
    return true;
  }

  #startTimer(ms: number): Timer {
    if (this.timers !== realTimers) {
      this.timers.inBackground(ms, () => this.#expireCalls(this.timers.clock.now()));
      return CLOCK_TIMER;
    }
    const dueMs = performance.now() + ms;
    return setTimeout(() => {
      const nowMs = performance.now();
      // After a long pause of the process, a response may be unread, or a request unsent.
      if (nowMs - dueMs > LONG_PAUSE_MS) this.#timer = setTimeout(() => this.#expireCalls(nowMs), GRACE_MS);
      // Timers run before the event loop reads from sockets.
      else afterPoll(() => this.#expireCalls(performance.now()));
    }, ms);
  }

  /** Expires the calls that were due by `untilMs`. Calls that became due in a second pause get their own grace. */
  #expireCalls(untilMs: number): void {
    this.#timer = undefined;
    for (let call = this.#first; call !== undefined && call.dueMs <= untilMs; call = this.#first) {
      if (this.settle(call)) call.onTimeout();
    }
    const oldest = this.#first;
    if (oldest !== undefined) this.#timer ??= this.#startTimer(Math.max(0, oldest.dueMs - this.timers.clock.now()));
  }
}

/** A call that settles by its result or by its deadline, whichever comes first. */
export interface TimedCall {
  dueMs: number;
  isSettled: boolean;
  /** The pending calls that were started before and after this one. */
  previous: TimedCall | undefined;
  next: TimedCall | undefined;
  /** Called once, if the call has not settled by its deadline. */
  onTimeout(): void;
}
