import { type Awaitable, isThenable } from '../base/awaitable.js';
import { type Listener, Pending } from '../base/pending.js';
import type { Deadlines } from './deadlines.js';
import type { PartHealth } from './part-health.js';
import { type StoreError, storeFailedError, storeTimeoutError } from './store-error.js';
import type { TimedCall } from './timed-call.js';

/** A call of a store that settles by its result, its failure or its deadline, whichever comes first. */
class GuardedCall<Result> implements TimedCall, Listener<Result> {
  readonly promise: Promise<Result>;
  dueMs = 0;
  isSettled = false;
  previous: TimedCall | undefined = undefined;
  next: TimedCall | undefined = undefined;
  private resolve!: (result: Result) => void;
  private reject!: (thrown: unknown) => void;

  constructor(
    private readonly deadlines: Deadlines,
    private readonly health: PartHealth,
    private readonly onFailure: (error: StoreError) => Result,
    private readonly onLate: ((result: Result) => void) | undefined,
  ) {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    deadlines.start(this);
  }

  /** A late result updates only the store's health. */
  succeed(result: Result): void {
    this.health.recordSuccess(this.dueMs - this.deadlines.timeoutMs);
    if (this.deadlines.settle(this)) this.resolve(result);
    else this.onLate?.(result);
  }

  fail(thrown: unknown): void {
    if (this.deadlines.settle(this)) this.#settleByPolicy(storeFailedError(thrown, this.health.connection), 0);
  }

  onTimeout(): void {
    this.#settleByPolicy(storeTimeoutError(this.deadlines.timeoutMs, this.health.connection), this.deadlines.timeoutMs);
  }

  #settleByPolicy(error: StoreError, waitedMs: number): void {
    this.health.recordFailure(error, waitedMs);
    try {
      this.resolve(this.onFailure(error));
    } catch (thrown) {
      this.reject(thrown);
    }
  }
}

/**
 * Returns the result, or the result of `onFailure` if the call fails or times out. A result after the timeout goes to
 * `onLate`, which must not throw.
 */
export function guardCall<Result>(
  result: Awaitable<Result>,
  deadlines: Deadlines,
  health: PartHealth,
  onFailure: (error: StoreError) => Result,
  onLate?: (result: Result) => void,
): Awaitable<Result> {
  if (!isThenable(result)) return result;
  const call = new GuardedCall(deadlines, health, onFailure, onLate);
  if (result instanceof Pending) result.listen(call);
  else listenTo(result, call);
  return call.promise;
}

/** Separate, so that a call with a {@link Pending} allocates no context for these functions. */
function listenTo<Result>(result: PromiseLike<Result>, call: GuardedCall<Result>): void {
  try {
    result.then(
      (value) => call.succeed(value),
      (thrown) => call.fail(thrown),
    );
  } catch (thrown) {
    call.fail(thrown); // Otherwise the deadline would reject a promise that nobody has.
  }
}

/** Sends a call to a store that is down if a probe is due, to find out whether the store is back. It does not wait. */
export function probe(health: PartHealth, send: () => Awaitable<unknown>): void {
  if (!health.claimProbe()) return;
  const sentMs = health.nowMs;
  new Promise((resolve) => resolve(send())).then(
    () => health.recordSuccess(sentMs),
    () => health.recordProbeReply(),
  );
}

/** An `onFailure` for calls without a fallback. */
export function rethrow(error: StoreError): never {
  throw error;
}
