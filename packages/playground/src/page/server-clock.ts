/** How many messages the clock considers. */
const REMEMBERED = 20;

/**
 * An estimate of the server's time. A message arrives later than it was sent, so the server's time is never behind that of
 * any message. The clock uses the fastest of the last messages.
 */
export class ServerClock {
  #aheadMs: number[] = [];
  #bestMs = Date.now() - performance.now();

  /** Updates the estimate from a message that the server sent at `serverMs`. */
  receive(serverMs: number): void {
    this.#aheadMs.push(serverMs - performance.now());
    if (this.#aheadMs.length > REMEMBERED) this.#aheadMs.shift();
    this.#bestMs = Math.max(...this.#aheadMs);
  }

  /** Forgets the last messages, because another server with another clock may respond from now on. */
  reset(): void {
    this.#aheadMs = [];
  }

  /** The server's time in milliseconds since the epoch. */
  now(): number {
    return performance.now() + this.#bestMs;
  }
}
