import type { CounterAlgorithm } from '../limits/rolling-counter-algorithm.js';
import type { CountingStore } from '../store/capabilities.js';
import type { Awaitable } from '../util/awaitable.js';
import { CallGuard, RETHROW } from './call-guard.js';

interface CountCall {
  readonly counter: CounterAlgorithm;
  readonly subject: string;
  readonly units: number;
  readonly intervalMicros: number;
}

/** Wraps a counting store, so that each call settles by its deadline. Counts have no fallback. */
export class GuardedCountingStore implements CountingStore {
  readonly #counts: CallGuard<CountCall, number>;

  constructor(store: CountingStore, timeoutMs: number) {
    // With 0 units, it only counts.
    const send = ({ counter, subject, units, intervalMicros }: CountCall) =>
      store.addCount(counter, subject, units, intervalMicros);
    this.#counts = new CallGuard<CountCall, number>(store, timeoutMs, {
      partOf: store.partOfSubject && (({ counter, subject }) => store.partOfSubject!(counter, subject)),
      send,
      onlyReads: ({ units }) => units === 0,
      probe: (call) => send({ ...call, units: 0 }),
      ...RETHROW,
    });
  }

  addCount(counter: CounterAlgorithm, subject: string, units: number, intervalMicros: number): Awaitable<number> {
    return this.#counts.run({ counter, subject, units, intervalMicros });
  }
}
