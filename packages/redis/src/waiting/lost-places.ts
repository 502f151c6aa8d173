import type { StoreWait } from '@rollgate/core/store';
import type { ServerClock } from './server-clock.js';

/** The numbers of callers that wait in their process, because the queues have failed. They return when Redis replies. */
export class LostPlaces {
  readonly #numbers = new WeakMap<StoreWait, number>();

  constructor(private readonly serverClock: ServerClock) {}

  /** Returns the number of a caller that returns, or 0 for a new one. */
  numberOf(call: StoreWait): number {
    return this.#numbers.get(call) ?? 0;
  }

  /**
   * Keeps the place of a caller. One that has not arrived gets the number that it would have had.
   *
   * @param number 0 if it is unknown.
   */
  keep(call: StoreWait, number: number, arrivedMs: number): void {
    // Rounds up, so that no earlier caller is behind it.
    const arrival = Math.ceil(1000 * this.serverClock.toLatestServerMs(arrivedMs));
    this.#numbers.set(call, number || (arrival < Infinity ? arrival : 0));
  }
}
