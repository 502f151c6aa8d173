import type { Awaitable } from '../base/awaitable.js';
import type { CounterAlgorithm } from '../limits/rolling-counter-algorithm.js';
import type { CountingStore } from '../store/store.js';
import { timersOf } from '../time/clock-timers.js';
import { Deadlines } from './deadlines.js';
import { guardCall, probe, rethrow } from './guarded-call.js';
import { storeDownError } from './store-error.js';
import { StoreHealth } from './store-health.js';

/** Wraps a counting store, so that each call settles by its deadline. Counts have no fallback. */
export class GuardedCountingStore implements CountingStore {
  readonly #store: CountingStore;
  readonly #deadlines: Deadlines;
  readonly #health: StoreHealth;

  constructor(store: CountingStore, timeoutMs: number) {
    this.#store = store;
    this.#deadlines = new Deadlines(timeoutMs, timersOf(store.clock));
    this.#health = StoreHealth.of(store);
  }

  addCount(counter: CounterAlgorithm, subject: string, units: number, intervalMicros: number): Awaitable<number> {
    const part = this.#health.ofPart(this.#store.partOfSubject?.(counter, subject) ?? '');
    if (part.isDownFor(this.#deadlines.timeoutMs)) {
      probe(part, () => this.#store.addCount(counter, subject, 0, intervalMicros)); // Adds 0 units.
      throw storeDownError(this.#deadlines.timeoutMs, part.connection);
    }
    return guardCall(this.#store.addCount(counter, subject, units, intervalMicros), this.#deadlines, part, rethrow);
  }
}
