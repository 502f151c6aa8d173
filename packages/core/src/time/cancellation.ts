import { createDeferred } from '../util/awaitable.js';
import { getOrInsert } from '../util/get-or-insert.js';
import { withCode } from '../validation/error-codes.js';
import { type Clock, type Timers, timersOf } from './clock.js';

/**
 * What may end a wait early: its signal, its timeout, or the end of its limiter. Its methods throw or reject with the reason.
 *
 * `AbortSignal.any` could combine these only since Node 20.3. A signal that outlives the wait would then keep memory for it.
 */
export class Cancellation {
  /** The time by which the caller waits. */
  readonly timers: Timers;
  readonly #dueMs: number;
  readonly #stopListening: (() => void) | undefined;
  readonly #stopTimer: (() => void) | undefined;
  #canceled: { readonly reason: unknown } | undefined;
  /** Ends the present sleep, if that is due before the timeout or with it. */
  #wake: (() => void) | undefined;
  /** Whether the last sleep has ended in time, by a clock that passes in steps, and the caller still acts. */
  #isAwake = false;
  /** The error of the timeout, if it has passed since. */
  #late: DOMException | undefined;
  /** Rejects what the caller waits for. */
  #reject = (_reason: unknown): void => {};

  constructor(signal: AbortSignal | undefined, timeoutMs: number, timers: Timers) {
    this.timers = timers;
    this.#dueMs = timers.clock.now() + timeoutMs;
    const onTimeout = () => {
      this.#wake?.();
      this.#late = timeoutError(`the call waited for ${timeoutMs} ms (\`timeout\`)`);
      if (!this.#isAwake) this.cancel(this.#late);
    };
    if (signal?.aborted) this.cancel(signal.reason);
    else if (signal !== undefined) this.#stopListening = onAbort(signal, () => this.cancel(signal.reason));
    if (timeoutMs !== Infinity) this.#stopTimer = timers.inBackground(timeoutMs, onTimeout);
  }

  /** Makes the wait reject with this reason. Only the first call has an effect. */
  cancel(reason: unknown): void {
    this.#canceled ??= { reason };
    this.#reject(this.#canceled.reason);
  }

  /**
   * Does nothing until the wait is canceled.
   *
   * @throws The reason.
   */
  throwIfCanceled(): void {
    if (this.#canceled !== undefined) throw this.#canceled.reason;
  }

  /**
   * Ends the time in which the caller may act although a step of the clock has passed its timeout, after its sleep has ended.
   *
   * @throws DOMException, a `TimeoutError`, if it has.
   */
  throwIfLate(): void {
    this.#isAwake = false;
    if (this.#late !== undefined) throw this.#late;
  }

  /**
   * Throws unless the timeout allows a wait of `waitMs` from `startMs`.
   *
   * @throws DOMException, a `TimeoutError`.
   */
  throwIfTooLong(waitMs: number, startMs: number): void {
    if (startMs + waitMs <= this.#dueMs || (waitMs === 0 && this.#isAwake)) return;
    throw timeoutError(`the earliest possible start is in ${Math.ceil(waitMs)} ms, after the \`timeout\``);
  }

  /** Returns the promise's value, but rejects as soon as the wait is canceled. Call it for one promise at a time. */
  async unlessCanceled<Value>(promise: Promise<Value>): Promise<Value> {
    this.throwIfCanceled();
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      promise.then(resolve, reject);
    });
  }

  /** Resolves `ms` milliseconds after `startMs`, or when `woken` does. Rejects as soon as the wait is canceled. */
  async sleep(ms: number, startMs: number, woken = createDeferred()): Promise<void> {
    this.throwIfLate();
    const wake = () => {
      this.#isAwake = this.timers.isStepped;
      woken.resolve();
    };
    const stopTimer = this.timers.after(ms, wake, startMs);
    if (startMs + ms <= this.#dueMs) this.#wake = wake;
    try {
      await this.unlessCanceled(woken.promise);
    } finally {
      this.#wake = undefined;
      stopTimer();
    }
  }

  /** Removes the listener and the timer. */
  dispose(): void {
    this.#stopListening?.();
    this.#stopTimer?.();
  }
}

/** Resolves once `delayMs` milliseconds have passed, by the clock if it has the method `schedule`. Rejects as soon as the signal aborts. */
export async function sleep(delayMs: number, clock: Clock | undefined, signal?: AbortSignal): Promise<void> {
  const timers = timersOf(clock);
  const cancellation = new Cancellation(signal, Infinity, timers);
  try {
    await cancellation.sleep(delayMs, timers.clock.now());
  } finally {
    cancellation.dispose();
  }
}

/** Creates the error of a `wait` whose `timeout` has passed, or will pass before the action is allowed. */
function timeoutError(message: string): DOMException {
  return withCode('ERR_ROLLGATE_WAIT_TIMEOUT', new DOMException(`Timed out: ${message}`, 'TimeoutError'));
}

/** The callbacks of one signal, as its listener. */
class Callbacks extends Set<() => void> {
  handleEvent(): void {
    for (const callback of this) callback();
  }
}

const ofSignals = new WeakMap<AbortSignal, Callbacks>();

/**
 * Calls `callback` when the signal aborts, and returns a function that prevents that. All callbacks of a signal share one
 * listener, because Node warns about a leak when a signal has more than ten. The signal must not have aborted yet.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = getOrInsert(ofSignals, signal, () => new Callbacks()).add(callback);
  signal.addEventListener('abort', callbacks);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0) signal.removeEventListener('abort', callbacks);
  };
}
