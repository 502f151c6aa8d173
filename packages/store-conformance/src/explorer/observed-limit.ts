import type { Limit } from '@rollgate/core';
import type { Hit, Verdict } from '@rollgate/core/store';

/** A recorded action, as the limit saw it. `state` identifies the life of the key. */
export interface StoreHit {
  readonly state: unknown;
  readonly ruling: number;
  readonly atMicros: number;
  readonly recordedMicros: number;
  readonly cost: number;
}

/** Collects what the limits of a store see of its state, which is private otherwise. */
export class StateObserver {
  /** What was recorded since this was emptied. */
  recorded: StoreHit[] = [];
  /**
   * While this is set, limits pass it the states that a peek finds. To the store, these states look expired, so it
   * leaves them alone.
   */
  looking: ((name: string, ruling: number, state: unknown) => void) | undefined;
}

const NOTHING: Verdict = { waitMicros: 0, reason: 'limit', delayMicros: 0, remaining: 0, resetMicros: 0, atMicros: 0 };

/** Does what a shipped limit does, and reports to a `StateObserver`. */
export class ObservedLimit implements Limit {
  readonly algorithm: string;
  readonly limit: number;
  readonly windowMicros: number;
  readonly keepMicros: number;
  readonly countRejected: boolean;
  readonly #inner: Limit;
  readonly #watch: StateObserver;
  readonly #index: number;
  readonly #name: string;

  constructor(inner: Limit, watch: StateObserver, index: number, name: string) {
    this.algorithm = inner.algorithm;
    this.limit = inner.limit;
    this.windowMicros = inner.windowMicros;
    this.keepMicros = inner.keepMicros;
    this.countRejected = inner.countRejected;
    this.#inner = inner;
    this.#watch = watch;
    this.#index = index;
    this.#name = name;
  }

  create(): unknown {
    return this.#inner.create();
  }

  /** A store calls this first for each entry that it finds. It ignores an expired one. */
  expiresMicros(state: unknown): number {
    if (this.#watch.looking === undefined) return this.#inner.expiresMicros(state);
    this.#watch.looking(this.#name, this.#index, state);
    return -Infinity;
  }

  isPlausible(state: unknown, nowMicros: number): boolean {
    return this.#inner.isPlausible(state, nowMicros);
  }

  test(state: unknown, nowMicros: number, cost: number): Verdict {
    return this.#watch.looking === undefined ? this.#inner.test(state, nowMicros, cost) : NOTHING;
  }

  record(state: unknown, nowMicros: number, cost: number, verdict: Verdict): Verdict {
    const { atMicros } = verdict;
    this.#watch.recorded.push({ state, ruling: this.#index, atMicros, recordedMicros: nowMicros, cost });
    return this.#inner.record(state, nowMicros, cost, verdict);
  }

  refund(state: unknown, nowMicros: number, hit: Hit): void {
    this.#inner.refund(state, nowMicros, hit);
  }
}
