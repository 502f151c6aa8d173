import type { Awaitable } from '../awaitable.js';
import type { CounterAlgorithm } from '../counter-algorithm.js';
import type { CountingStore } from '../store.js';
import { Deadlines } from './deadlines.js';
import { guardCall, probe, rethrow } from './guarded-call.js';
import { storeDownError } from './store-error.js';
import { StoreHealths } from './store-health.js';

/** A store that counts, every call of which is settled in time. Nothing can stand in for what it knows. */
export class GuardedCountingStore implements CountingStore {
  readonly #store: CountingStore;
  readonly #deadlines: Deadlines;
  readonly #healths: StoreHealths;

  constructor(store: CountingStore, timeoutMs: number) {
    this.#store = store;
    this.#deadlines = new Deadlines(timeoutMs);
    this.#healths = StoreHealths.of(store);
  }

  addCount(counter: CounterAlgorithm, subject: string, units: number, intervalMicros: number): Awaitable<number> {
    const health = this.#healths.ofPart(this.#store.partOfSubject?.(counter, subject) ?? '');
    if (health.isDownFor(this.#deadlines.timeoutMs)) {
      probe(health, () => this.#store.addCount(counter, subject, 0, intervalMicros)); // Adds nothing.
      throw storeDownError(this.#deadlines.timeoutMs, health.connection);
    }
    return guardCall(this.#store.addCount(counter, subject, units, intervalMicros), this.#deadlines, health, rethrow);
  }
}
