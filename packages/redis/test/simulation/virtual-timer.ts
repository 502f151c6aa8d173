import type { VirtualTime } from './virtual-time.js';

/**
 * A timer of virtual time. As Node's, it counts whole milliseconds from the last whole one: so it may be early by a part
 * of a millisecond.
 */
export class VirtualTimer {
  #cancel: () => void;

  constructor(time: VirtualTime, run: () => void, ms = 1) {
    const waitMs = ms >= 1 ? Math.trunc(ms) : 1;
    this.#cancel = time.at((Math.floor(time.micros / 1000) + waitMs) * 1000, 'timer', run);
  }

  close(): void {
    this.#cancel();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
