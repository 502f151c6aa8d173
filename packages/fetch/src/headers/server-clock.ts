import { parseDate } from './times.js';

/** How many responses the estimate takes into account. So a wrong `Date` is forgotten after as many. */
const SAMPLES = 16;

/**
 * Estimates a server's clock by the `Date` headers of its responses, so that resets at absolute times don't need clocks that
 * agree.
 *
 * A response comes after its `Date`, and the header lacks the fraction of its second. So each response shows a lower bound of
 * the server's time, and the greatest of them is the best one. The estimate is late by less than a second, and waits are
 * never too short.
 */
export class ServerClock {
  /** The server's time minus this machine's, as the last responses show it. */
  readonly #differences: number[] = [];

  /** Returns the server's time of a response that has arrived now. */
  timeOf(date: string | undefined, nowMs: number): number {
    const dateMs = parseDate(date);
    if (dateMs !== undefined) {
      if (this.#differences.length === SAMPLES) this.#differences.shift();
      this.#differences.push(dateMs - nowMs);
    }
    return this.#differences.length === 0 ? nowMs : nowMs + Math.max(...this.#differences);
  }
}
