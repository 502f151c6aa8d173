import type { Awaitable, Clock, Decision } from '@rollgate/core';
import { mapAwaitable } from '@rollgate/core/store';

/** The clock of a store that remembers the time of each decision, because a decision does not contain it. */
export class DecisionClock implements Clock {
  readonly #source: Clock;
  readonly #times = new WeakMap<Decision, number>();
  #stillMs: number | undefined;

  constructor(source: Clock) {
    this.#source = source;
  }

  now(): number {
    return this.#stillMs ?? this.#source.now();
  }

  /** Calls `decide` while the clock stands still at this time. */
  standAt<Result>(atMs: number, decide: () => Result): Result {
    const before = this.#stillMs;
    this.#stillMs = atMs;
    try {
      return decide();
    } finally {
      this.#stillMs = before;
    }
  }

  /** Makes a check of the store, and remembers the time by which it is decided. */
  check(check: () => Awaitable<Decision>): Awaitable<Decision> {
    const atMs = this.now();
    return mapAwaitable(this.standAt(atMs, check), (decision) => {
      this.#times.set(decision, atMs);
      return decision;
    });
  }

  /** When the decision was made. For one of a policy, which has replaced a store, that is now. */
  timeOf(decision: Decision): number {
    return this.#times.get(decision) ?? this.now();
  }
}
