import { performance } from 'node:perf_hooks';

/** A call that is to be settled in time: by its answer, else by its deadline. */
export abstract class TimedCall {
  dueMs = 0;
  isSettled = false;
  /** The call that was started after this one. */
  next: TimedCall | undefined = undefined;

  /** Called, once, when it was not settled in time. */
  abstract onLate(): void;
}

/**
 * Deadlines that are all equally far away, so that they pass in the order of the calls: one timer for all, which keeps
 * the process alive only while a call is open.
 */
export class Deadlines {
  readonly #timeoutMs: number;
  /** The oldest call that is open; settled ones before it are let go of at once. */
  #first: TimedCall | undefined;
  #last: TimedCall | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Starts a call, which may take so long from now on. */
  start(call: TimedCall): void {
    call.dueMs = performance.now() + this.#timeoutMs;
    if (this.#first === undefined) {
      this.#first = call;
      this.#timer?.ref();
    } else {
      this.#last!.next = call;
    }
    this.#last = call;
    this.#timer ??= this.#startTimer(this.#timeoutMs);
  }

  /** Settles the call, and answers whether it was open: whoever gets `true` may answer. */
  settle(call: TimedCall): boolean {
    if (call.isSettled) return false;
    call.isSettled = true;
    while (this.#first?.isSettled) this.#first = this.#first.next;
    // Setting a timer for each call anew costs more than letting this one pass for nothing.
    if (this.#first === undefined) this.#timer?.unref();
    return true;
  }

  #startTimer(ms: number): NodeJS.Timeout {
    // A timer passes before what the sockets hold is read: after a long pause of the process the answer may be there.
    return setTimeout(() => setImmediate(() => this.#passDeadlines()), ms);
  }

  #passDeadlines(): void {
    this.#timer = undefined;
    const nowMs = performance.now();
    for (let call = this.#first; call !== undefined && call.dueMs <= nowMs; call = this.#first) {
      if (this.settle(call)) call.onLate();
    }
    if (this.#first !== undefined) this.#timer ??= this.#startTimer(this.#first.dueMs - nowMs);
  }
}
