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

  /** An answer that comes late is dropped: a store that needs so long is as good as down. But it is worth a probe. */
  answer(answer: Answer): void {
    if (this.deadlines.settle(this)) {
      this.health.answered();
      this.resolve(answer);
    } else {
      this.health.probed();
    }
  }

  fail(thrown: unknown): void {
    if (this.deadlines.settle(this)) this.#settleInstead(failedError(thrown), false);
  }

  override onLate(): void {
    this.#settleInstead(lateError(this.deadlines.timeoutMs), true);
  }

  #settleInstead(error: StoreError, isLate: boolean): void {
    this.health.failed(error, isLate);
    try {
      this.resolve(this.instead(error));
    } catch (thrown) {
      this.reject(thrown);
    }
  }
}
