/** How many messages the clock considers. */
const MAX_SAMPLES = 20;

/**
 * An estimate of the server's time. A message arrives later than it was sent, so the server's time is never behind that of
 * any message. The clock uses the fastest of the last messages.
 */
export class ServerClock {
  #samplesMs: number[] = [];
  #bestMs = Date.now() - performance.now();

  /** Updates the estimate from a message that the server sent at `serverMs`. */
  receive(serverMs: number): void {
    this.#samplesMs.push(serverMs - performance.now());
    if (this.#samplesMs.length > MAX_SAMPLES) this.#samplesMs.shift();
    this.#bestMs = Math.max(...this.#samplesMs);
  }

  /** Drops the samples, because another server with another clock may respond from now on. */
  reset(): void {
    this.#samplesMs = [];
  }

  /** The server's time in milliseconds since the epoch. */
  now(): number {
    return performance.now() + this.#bestMs;
  }
}
