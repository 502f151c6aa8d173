import { WINDOW_MS } from './limits.js';

/** A clock that stands still until it is set. It starts at the start of a window, at a time with as many digits as today's. */
export class ManualClock {
  ms = Math.floor(Date.now() / WINDOW_MS) * WINDOW_MS;

  now(): number {
    return this.ms;
  }
}
