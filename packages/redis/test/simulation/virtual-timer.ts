/** The part of `VirtualTime` that a timer uses. */
interface TaskQueue {
  readonly micros: number;
  at(atMicros: number, kind: 'timer', run: () => void): () => void;
}

/**
 * A timer of virtual time. Like those of Node, it counts whole milliseconds from the last whole one, so it may be early
 * by a fraction of a millisecond.
 */
export class VirtualTimer {
  #cancel: () => void;

  constructor(time: TaskQueue, run: () => void, ms = 1) {
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
