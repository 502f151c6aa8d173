const EVERY_MS = 10;

/**
 * A clock that counts the ticks of a timer in this process. It stands still while a busy machine runs other processes, as
 * all deadlines of this process do. It never runs faster than real time.
 */
export class ProcessTime {
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;

  constructor() {
    this.#schedule();
  }

  /** Milliseconds since the start, without the time in which this process was blocked. */
  get runningMs(): number {
    return this.#ticks * EVERY_MS;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#ticks += 1;
      this.#schedule();
    }, EVERY_MS);
  }
}
