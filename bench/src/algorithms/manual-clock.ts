import { WINDOW_MS } from '../limits.js';

/** Stands still unless it is moved. It begins where a window of the clock does, at some time that is as long as today's. */
export class ManualClock {
  ms = Math.floor(Date.now() / WINDOW_MS) * WINDOW_MS;

  now(): number {
    return this.ms;
  }
}
