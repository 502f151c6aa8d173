import { performance } from 'node:perf_hooks';
import { type Awaitable, isThenable } from '../awaitable.js';
import { type Deadlines, TimedCall } from './deadlines.js';
import { type StoreError, storeFailedError, storeTimeoutError } from './store-error.js';
import type { StoreHealth } from './store-health.js';

/** A call of a store, which its answer, its failure or its deadline settles: whichever comes first. */
class GuardedCall<Answer> extends TimedCall {
  constructor(
    private readonly deadlines: Deadlines,
    private readonly health: StoreHealth,
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (thrown: unknown) => void,
    private readonly onFailure: (error: StoreError) => Answer,
  ) {
    super();
    deadlines.start(this);
  }

  /** An answer that comes late is dropped, but tells how slow the store is. */
  answer(answer: Answer): void {
    this.health.recordSuccess(this.dueMs - this.deadlines.timeoutMs);
    if (this.deadlines.settle(this)) this.resolve(answer);
  }

  fail(thrown: unknown): void {
    if (this.deadlines.settle(this)) this.#settleInstead(storeFailedError(thrown, this.health.connection), 0);
  }

  override onTimeout(): void {
    this.#settleInstead(storeTimeoutError(this.deadlines.timeoutMs, this.health.connection), this.deadlines.timeoutMs);
  }

  #settleInstead(error: StoreError, waitedMs: number): void {
    this.health.recordFailure(error, waitedMs);
    try {
      this.resolve(this.onFailure(error));
    } catch (thrown) {
      this.reject(thrown);
    }
  }
}

/** The answer, or what `onFailure` makes of its failure. */
export function guardCall<Answer>(
  answer: Awaitable<Answer>,
  deadlines: Deadlines,
  health: StoreHealth,
  onFailure: (error: StoreError) => Answer,
): Awaitable<Answer> {
  if (!isThenable(answer)) return answer;
  return new Promise((resolve, reject) => {
    const call = new GuardedCall(deadlines, health, resolve, reject, onFailure);
    answer.then(
      (value) => call.answer(value),
      (thrown) => call.fail(thrown),
    );
  });
}

/** Asks a store that is down whether it is back, now and then, beside the call that is answered without it. */
export function probe(health: StoreHealth, ask: () => Awaitable<unknown>): void {
  if (!health.claimProbe()) return;
  const sentMs = performance.now();
  new Promise((resolve) => resolve(ask())).then(
    () => health.recordSuccess(sentMs),
    () => health.recordProbeReply(),
  );
}

/** What `onFailure` is where nothing can stand in. */
export function rethrow(error: StoreError): never {
  throw error;
}
