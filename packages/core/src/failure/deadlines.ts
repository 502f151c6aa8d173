import { performance } from 'node:perf_hooks';
import { type Duration, parseDuration } from '../duration.js';
import { MAX_TIMER_MS } from '../scheduler.js';
import { invalidNumber } from '../validate.js';

/** How long a store may take when nothing else was said, in milliseconds. */
export const DEFAULT_TIMEOUT_MS = 500;

/** A call that is to be settled in time: by its answer, else by its deadline. */
export abstract class TimedCall {
  dueMs = 0;
  isSettled = false;
  /** The open calls that were started before and after this one. */
  previous: TimedCall | undefined = undefined;
  next: TimedCall | undefined = undefined;

  /** Called, once, when it was not settled in time. */
  abstract onTimeout(): void;
}

/** A timer that is so late tells of a process that did nothing for a while. */
const LONG_PAUSE_MS = 25;
/** What such a process is given to catch up with its sockets. */
const GRACE_MS = 25;

/**
 * Deadlines that are all equally far away, so that they pass in the order of the calls: one timer for all, which keeps
 * the process alive only while a call is open.
 */
export class Deadlines {
  /** The open calls, oldest first: a settled one is let go of at once, whatever those before it do. */
  #first: TimedCall | undefined;
  #last: TimedCall | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** How long a call may take. */
  constructor(readonly timeoutMs: number) {}

  /** Starts a call, which may take so long from now on. */
  start(call: TimedCall): void {
    call.dueMs = performance.now() + this.timeoutMs;
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

  /** Settles the call, and answers whether it was open: whoever gets `true` may answer. */
  settle(call: TimedCall): boolean {
    if (call.isSettled) return false;
    call.isSettled = true;
    const { previous, next } = call;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    // Setting a timer for each call anew costs more than letting this one pass for nothing.
    if (this.#first === undefined) this.#timer?.unref();
    return true;
  }

  #startTimer(ms: number): NodeJS.Timeout {
    const dueMs = performance.now() + ms;
    return setTimeout(() => {
      const nowMs = performance.now();
      // After a long pause of the process the answer may be there unread, or the question still be unsent.
      if (nowMs - dueMs > LONG_PAUSE_MS) this.#timer = setTimeout(() => this.#expireCalls(nowMs), GRACE_MS);
      // A timer passes before what the sockets hold is read.
      else setImmediate(() => this.#expireCalls(performance.now()));
    }, ms);
  }

  /** Passes those that were due by then: what became due in a second pause is given a grace of its own. */
  #expireCalls(untilMs: number): void {
    this.#timer = undefined;
    for (let call = this.#first; call !== undefined && call.dueMs <= untilMs; call = this.#first) {
      if (this.settle(call)) call.onTimeout();
    }
    if (this.#first !== undefined) this.#timer ??= this.#startTimer(Math.max(0, this.#first.dueMs - performance.now()));
  }
}

/** @throws TypeError, RangeError when it is no duration that a timer can be set for. */
export function parseTimeout(timeout: Duration): number {
  const ms = parseDuration('timeout', timeout);
  if (ms > MAX_TIMER_MS) throw invalidNumber('timeout', 'a duration of 24 days at most', timeout);
  return ms;
}
