/** A model of a store's health: whether it counts as silent. */
export class HealthModel {
  /** The longest timeout of a call without a response. 0 after a response that took less time. */
  #silentForMs = 0;
  /** How often the store was silent and then responded. */
  recoveredCount = 0;

  /** Records that a call had no response at its deadline. */
  recordTimeout(timeoutMs: number): void {
    this.#silentForMs = Math.max(this.#silentForMs, timeoutMs);
  }

  /** Records a response, however late. */
  recordResponse(afterMs: number): void {
    if (afterMs >= this.#silentForMs) return;
    this.#silentForMs = 0;
    this.recoveredCount += 1;
  }

  /** Whether a limiter with this timeout regards the store as down. */
  isDownFor(timeoutMs: number): boolean {
    return timeoutMs <= this.#silentForMs;
  }
}
