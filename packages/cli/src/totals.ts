import type { Entry } from './log/entry.js';

/** The number of requests and callers, and the times of the first and the last request. */
export class Totals {
  requests = 0;
  callers = 0;
  /** Microseconds since the epoch. */
  firstMicros = Number.NaN;
  lastMicros = Number.NaN;
  /** The number of requests of each caller, by the caller's index. */
  readonly #requestsOf: number[] = [];

  /** Times never decrease. */
  add({ micros, caller: { index } }: Pick<Entry, 'micros' | 'caller'>): void {
    if (this.requests === 0) this.firstMicros = micros;
    this.lastMicros = micros;
    this.requests += 1;
    const before = this.#requestsOf[index] ?? 0;
    if (before === 0) this.callers += 1;
    this.#requestsOf[index] = before + 1;
  }

  requestsOf({ index }: Entry['caller']): number {
    return this.#requestsOf[index] ?? 0;
  }
}
