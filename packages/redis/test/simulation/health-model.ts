import type { StoreCall } from './call-records.js';

/** A model of a store's health: whether it counts as silent. */
export class HealthModel {
  /** The longest timeout of a call without a response. 0 after a response that took less time. */
  #silentForMs = 0;
  /** Whether a call other than a peek had no response. Then a peek does not end the silence. */
  #areWritesSilent = false;
  /** Whether a peek had a response since. Peeks are then sent, and a check may be. */
  #respondsToPeeks = false;
  /** How often the store was silent and then responded. */
  recoveredCount = 0;

  /** Records that a call had no response at its deadline. */
  recordTimeout(timeoutMs: number, kind: StoreCall['kind']): void {
    this.#silentForMs = Math.max(this.#silentForMs, timeoutMs);
    if (kind === 'peek') this.#respondsToPeeks = false;
    else this.#areWritesSilent = true;
  }

  /** Records a response, however late. */
  recordResponse(afterMs: number, kind: StoreCall['kind']): void {
    if (afterMs >= this.#silentForMs) return;
    if (kind === 'peek' && this.#areWritesSilent) {
      this.#respondsToPeeks = true;
      return;
    }
    this.#silentForMs = 0;
    this.#areWritesSilent = this.#respondsToPeeks = false;
    this.recoveredCount += 1;
  }

  /** Whether a limiter with this timeout regards the store as down. */
  isDownFor(timeoutMs: number): boolean {
    return timeoutMs <= this.#silentForMs;
  }

  /** Whether the call was sent by a limiter that regards the store as down. Otherwise its call of the store is a probe. */
  wasSent({ kind, storeCall }: { kind: StoreCall['kind']; storeCall: StoreCall | undefined }): boolean {
    return this.#respondsToPeeks && storeCall?.kind === kind;
  }
}
