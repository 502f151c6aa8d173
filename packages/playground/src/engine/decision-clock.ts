import type { Awaitable, Clock, Decision } from '@rollgate/core';
import { mapAwaitable } from '@rollgate/core/store';

/** The clock of a store that remembers the time of each decision, because a decision does not contain it. */
export class DecisionClock implements Clock {
  readonly #source: Clock;
  readonly #times = new WeakMap<Decision, number>();
  #fixedMs: number | undefined;

  constructor(source: Clock) {
    this.#source = source;
  }

  now(): number {
    return this.#fixedMs ?? this.#source.now();
  }

  /** Calls `decide` while the clock stands still at this time. */
  runAt<Result>(atMs: number, decide: () => Result): Result {
    const before = this.#fixedMs;
    this.#fixedMs = atMs;
    try {
      return decide();
    } finally {
      this.#fixedMs = before;
    }
  }

  /** Makes a check of the store, and remembers the time by which it is decided. */
  check(check: () => Awaitable<Decision>): Awaitable<Decision> {
    const atMs = this.now();
    return mapAwaitable(this.runAt(atMs, check), (decision) => {
      this.#times.set(decision, atMs);
      return decision;
    });
  }

  /** When the decision was made. For one of a policy, which has replaced a store, that is now. */
  timeOf(decision: Decision): number {
    return this.#times.get(decision) ?? this.now();
  }
}
