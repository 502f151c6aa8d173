import { type Deadlines, TimedCall } from './deadlines.js';
import { failedError, lateError, type StoreError } from './store-error.js';
import type { StoreHealth } from './store-health.js';

/** What the calls of one guarded store have in common. */
export interface Guard {
  readonly timeoutMs: number;
  readonly deadlines: Deadlines;
  readonly health: StoreHealth;
}

/** A call of a store, which its answer, its failure or its deadline settles: whichever comes first. */
export class GuardedCall<Answer> extends TimedCall {
  constructor(
    private readonly guard: Guard,
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (thrown: unknown) => void,
    private readonly instead: (error: StoreError) => Answer,
  ) {
    super();
    guard.deadlines.start(this);
  }

  /** An answer that comes late is dropped, but tells that the store answers. */
  answer(answer: Answer): void {
    this.guard.health.answered();
    if (this.guard.deadlines.settle(this)) this.resolve(answer);
  }

  fail(thrown: unknown): void {
    if (this.guard.deadlines.settle(this)) this.#settleInstead(failedError(thrown), false);
  }

  override onLate(): void {
    this.#settleInstead(lateError(this.guard.timeoutMs), true);
  }

  #settleInstead(error: StoreError, isLate: boolean): void {
    this.guard.health.failed(error, isLate);
    try {
      this.resolve(this.instead(error));
    } catch (thrown) {
      this.reject(thrown);
    }
  }
}
