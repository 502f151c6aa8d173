import { type Deadlines, TimedCall } from './deadlines.js';
import { failedError, lateError, type StoreError } from './store-error.js';
import type { StoreHealth } from './store-health.js';

/** A call of a store, which its answer, its failure or its deadline settles: whichever comes first. */
export class GuardedCall<Answer> extends TimedCall {
  constructor(
    private readonly deadlines: Deadlines,
    private readonly health: StoreHealth,
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (thrown: unknown) => void,
    private readonly instead: (error: StoreError) => Answer,
  ) {
    super();
    deadlines.start(this);
  }

  /** An answer that comes late is dropped, but tells how slow the store is. */
  answer(answer: Answer): void {
    this.health.answered(this.dueMs - this.deadlines.timeoutMs);
    if (this.deadlines.settle(this)) this.resolve(answer);
  }

  fail(thrown: unknown): void {
    if (this.deadlines.settle(this)) this.#settleInstead(failedError(thrown), 0);
  }

  override onLate(): void {
    this.#settleInstead(lateError(this.deadlines.timeoutMs), this.deadlines.timeoutMs);
  }

  #settleInstead(error: StoreError, waitedMs: number): void {
    this.health.failed(error, waitedMs);
    try {
      this.resolve(this.instead(error));
    } catch (thrown) {
      this.reject(thrown);
    }
  }
}
