import { parseDate } from './times.js';

/** How many seconds with responses the estimate takes into account. */
const SECONDS = 16;
/** By how much a right `Date` differs from the others at most: by its fraction, and by how long responses take. */
const SPREAD_MS = 5000;

/**
 * Estimates a server's clock by the `Date` headers of its responses, so that resets at absolute times don't need clocks that
 * agree.
 *
 * A response comes after its `Date`, and the header lacks the fraction of its second. So each response shows a lower bound of
 * the server's time, and the greatest of them is the best one. The estimate is late by less than a second, and waits are
 * never too short. Responses of one burst show the same, so each second counts once. A bound is wrong if it exceeds most others by
 * far, so that one wrong `Date` has no effect. When this machine's clock is set, the bounds so far are forgotten.
 */
export class RemoteClock {
  /** The server's time minus this machine's, as the responses of the last seconds show it. */
  #seconds: { readonly second: number; difference: number }[] = [];

  /** This machine's time minus that of the steady clock. */
  #offset: number | undefined;

  /**
   * Returns the server's time of a response that has arrived now.
   *
   * @param steadyMs The time of a clock that nothing sets. It shows when something has set the other one.
   */
  timeOf(date: string | undefined, nowMs: number, steadyMs = nowMs): number {
    const offset = nowMs - steadyMs;
    if (Math.abs(offset - (this.#offset ?? offset)) > SPREAD_MS) this.#seconds = [];
    this.#offset = offset;
    const dateMs = parseDate(date);
    if (dateMs !== undefined) this.#note(Math.floor(nowMs / 1000), dateMs - nowMs);
    return this.#seconds.length === 0 ? nowMs : nowMs + this.#difference();
  }

  /** The greatest bound that is not far above the median. Of two medians, the lesser one makes waits longer. */
  #difference(): number {
    const sorted = this.#seconds.map(({ difference }) => difference).sort((one, other) => one - other);
    const median = sorted[Math.floor((sorted.length - 1) / 2)]!;
    return sorted.findLast((difference) => difference <= median + SPREAD_MS)!;
  }

  #note(second: number, difference: number): void {
    const last = this.#seconds.at(-1);
    if (last?.second === second) {
      const isFar = Math.abs(last.difference - difference) > SPREAD_MS;
      last.difference = (isFar ? Math.min : Math.max)(last.difference, difference);
      return;
    }
    if (this.#seconds.length === SECONDS) this.#seconds.shift();
    this.#seconds.push({ second, difference });
  }
}
