import type { CountingStore, Store } from '../store/store.js';
import { realTimers, type Timers, timersOf } from '../time/clock.js';
import { type Awaitable, isThenable } from '../util/awaitable.js';
import type { Timer } from '../util/background-timer.js';
import { PendingResult, type ResultListener } from '../util/pending-result.js';
import { afterPoll, performance, REQUESTS_SHARE_TIMERS } from '../util/platform.js';
import { isMisuse } from '../validation/error-codes.js';
import { type StoreError, storeDownError, storeFailedError, storeTimeoutError } from './store-error.js';
import { type CallEffect, type PartHealth, StoreHealth } from './store-health.js';

/** What becomes of a call that a store does not settle in time. */
export interface FailureHandler<Result, Call = unknown> {
  /** Returns or throws what takes the place of the result, because the call failed, timed out or was not sent. */
  onFailure(error: StoreError, call: Call): Result;
  /** Takes a result that comes after the timeout. It must not throw. */
  onLate?(result: Result, call: Call): void;
  /** Whether the call writes nothing. Without this method, every call may write. */
  onlyReads?(call: Call): boolean;
}

/** For calls whose failure the caller gets. */
export const RETHROW: FailureHandler<never> = {
  onFailure(error) {
    throw error;
  },
};

/** How a guard sends calls of one kind, and what it does without their results. */
interface CallKind<Call, Result> extends FailureHandler<Result, Call> {
  /** Returns the name of the part of the store that the call needs. A store without parts has no such method. */
  readonly partOf: ((call: Call) => string) | undefined;
  send(call: Call): Awaitable<Result>;
  /** Sends a similar call that changes nothing, to find out whether the store is back. */
  probe(call: Call): Awaitable<unknown>;
}

/**
 * Guards the calls of one store with one timeout. A part of the store that is down gets no calls but probes. Each call of
 * another part settles by its result, its failure or its deadline, whichever comes first. Synchronous results and errors
 * pass unchanged, because a synchronous error is misuse. So do other errors of misuse.
 */
export class CallGuard<Call, Result> {
  /** The health of the store, and its fallback memory. */
  readonly health: StoreHealth;
  readonly #kind: CallKind<Call, Result>;
  readonly #deadlines: Deadlines;
  /** The health of a store without parts. */
  readonly #onlyPart: PartHealth | undefined;

  constructor(store: Store | CountingStore, timeoutMs: number, kind: CallKind<Call, Result>) {
    this.health = StoreHealth.of(store);
    this.#kind = kind;
    this.#deadlines = new Deadlines(timeoutMs, timersOf(store.clock));
    this.#onlyPart = kind.partOf === undefined ? this.health.ofPart('') : undefined;
  }

  /** Sends a call and guards it. While its part of the store is down, fails at once and sends a probe when one is due. */
  run(call: Call): Awaitable<Result> {
    const part = this.#onlyPart ?? this.health.ofPart(this.#kind.partOf!(call));
    const { timeoutMs } = this.#deadlines;
    let sentWhileDown: CallEffect | undefined;
    if (timeoutMs <= part.unresponsiveForMs) {
      sentWhileDown = effectOf(this.#kind, call);
      if (!part.isSentWhileDown(sentWhileDown)) {
        this.#probe(part, call);
        return this.#kind.onFailure(storeDownError(timeoutMs, part.connection), call);
      }
    }
    const result = this.#kind.send(call);
    if (!isThenable(result)) return result; // Such as a rejection that the store remembers. The trial is still due.
    if (sentWhileDown !== undefined) part.recordTrial(sentWhileDown);
    return new GuardedCall(result, call, this.#kind, part, this.#deadlines).promise;
  }

  /** Guards a call that was sent to this part of the store, even if the part is down. */
  guard<Other>(sent: Awaitable<Other>, partName: string, handler: FailureHandler<Other>): Awaitable<Other> {
    if (!isThenable(sent)) return sent;
    const part = this.#onlyPart ?? this.health.ofPart(partName);
    return new GuardedCall(sent, undefined, handler, part, this.#deadlines).promise;
  }

  /**
   * Records whether a call without a deadline fails. No caller waits for it, and it may take long in a store that responds to
   * others.
   */
  async watch<Other>(sent: PromiseLike<Other>, partName: string): Promise<Other> {
    const part = this.#onlyPart ?? this.health.ofPart(partName);
    const sentMs = part.clock.now();
    try {
      const result = await sent;
      part.recordSuccess(sentMs, 'writes');
      return result;
    } catch (thrown) {
      if (!isMisuse(thrown)) part.recordFailure(storeFailedError(thrown, part.connection), 0, 'writes');
      throw thrown;
    }
  }

  /** Finds out whether the part is back, without waiting for the reply. Does nothing until a probe is due. */
  #probe(part: PartHealth, call: Call): void {
    if (!part.claimProbe()) return;
    const sentMs = part.clock.now();
    new Promise((resolve) => resolve(this.#kind.probe(call))).then(
      () => part.recordSuccess(sentMs, 'probes'),
      () => part.recordProbeReply(),
    );
  }
}

function effectOf<Call>(handler: FailureHandler<unknown, Call>, call: Call): CallEffect {
  return handler.onlyReads?.(call) === true ? 'reads' : 'writes';
}

/** A call that waits for its result, its failure or its deadline. */
class GuardedCall<Call, Result> implements TimedCall, ResultListener<Result> {
  readonly promise: Promise<Result>;
  dueMs = 0;
  isSettled = false;
  previous: TimedCall | undefined = undefined;
  next: TimedCall | undefined = undefined;
  private resolve!: (result: Result) => void;
  private reject!: (thrown: unknown) => void;

  constructor(
    sent: PromiseLike<Result>,
    private readonly call: Call,
    private readonly handler: FailureHandler<Result, Call>,
    private readonly part: PartHealth,
    private readonly deadlines: Deadlines,
  ) {
    if (!REQUESTS_SHARE_TIMERS) this.deadlines = new Deadlines(deadlines.timeoutMs, deadlines.timers);
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.deadlines.start(this);
    if (sent instanceof PendingResult) sent.listen(this);
    else this.#listenTo(sent);
  }

  get remainingMs(): number {
    return this.isSettled ? 0 : Math.max(0, this.dueMs - this.deadlines.timers.clock.now());
  }

  succeed(result: Result): void {
    const { part, deadlines, handler, call } = this;
    if (part.failingSinceMs !== undefined) {
      part.recordSuccess(this.dueMs - deadlines.timeoutMs, effectOf(handler, call));
    }
    if (deadlines.settle(this)) this.resolve(result);
    else handler.onLate?.(result, call);
  }

  fail(thrown: unknown): void {
    if (!this.deadlines.settle(this)) return;
    if (isMisuse(thrown)) this.reject(thrown);
    else this.#handleFailure(storeFailedError(thrown, this.part.connection), 0);
  }

  onTimeout(): void {
    const { timeoutMs } = this.deadlines;
    this.#handleFailure(storeTimeoutError(timeoutMs, this.part.connection), timeoutMs);
  }

  #handleFailure(error: StoreError, waitedMs: number): void {
    this.part.recordFailure(error, waitedMs, effectOf(this.handler, this.call));
    try {
      this.resolve(this.handler.onFailure(error, this.call));
    } catch (thrown) {
      this.reject(thrown);
    }
  }

  /** Separate, so that a call with a {@link PendingResult} allocates no context for these functions. */
  #listenTo(sent: PromiseLike<Result>): void {
    try {
      sent.then(
        (result) => this.succeed(result),
        (thrown) => this.fail(thrown),
      );
    } catch (thrown) {
      this.fail(thrown); // otherwise the deadline would reject a promise that no caller has.
    }
  }
}

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
interface TimedCall {
  dueMs: number;
  isSettled: boolean;
  /** The pending calls that were started before and after this one. */
  previous: TimedCall | undefined;
  next: TimedCall | undefined;
  /** Called once, if the call has not settled by its deadline. */
  onTimeout(): void;
}
