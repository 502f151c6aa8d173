/** Of how many messages the quickest is believed. */
const REMEMBERED = 20;

/**
 * The server's time, as far as the page can know: a message comes later than it was sent, so the true time is never behind
 * what any message says, and the quickest of the last ones is believed.
 */
export class ServerClock {
  #aheadMs: number[] = [];
  #bestMs = Date.now() - performance.now();

  /** The server said that it was `serverMs`, some moments ago. */
  heard(serverMs: number): void {
    this.#aheadMs.push(serverMs - performance.now());
    if (this.#aheadMs.length > REMEMBERED) this.#aheadMs.shift();
    this.#bestMs = Math.max(...this.#aheadMs);
  }

  /** Another server may answer from now on, with another clock. */
  forget(): void {
    this.#aheadMs = [];
  }

  /** In milliseconds since the epoch. */
  now(): number {
    return performance.now() + this.#bestMs;
  }
}
