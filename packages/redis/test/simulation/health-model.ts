/** What a process has to know of a store's health: when it counts as silent. */
export class HealthModel {
  /** How long a call waited in vain; 0 when one was answered sooner since. */
  #silentForMs = 0;
  /** How often it was silent and answered again. */
  recoveredCount = 0;

  /** Notes that a call had no answer when its time was over. */
  late(timeoutMs: number): void {
    this.#silentForMs = Math.max(this.#silentForMs, timeoutMs);
  }

  /** Notes that a call was answered, however late. */
  answered(afterMs: number): void {
    if (afterMs >= this.#silentForMs) return;
    this.#silentForMs = 0;
    this.recoveredCount += 1;
  }

  /** Whether a limiter with this timeout does not ask it. */
  isDownFor(timeoutMs: number): boolean {
    return timeoutMs <= this.#silentForMs;
  }
}
