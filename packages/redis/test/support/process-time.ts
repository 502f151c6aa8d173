const EVERY_MS = 10;

/**
 * A clock that counts the turns of this process's timers. While a busy machine gives the process no time, it stands still,
 * as all deadlines of the process do. It runs slower than real time, never faster.
 */
export class ProcessTime {
  #timer: NodeJS.Timeout | undefined;
  #beats = 0;

  constructor() {
    this.#schedule();
  }

  /** Milliseconds since the start, without the time in which this process was blocked. */
  get runningMs(): number {
    return this.#beats * EVERY_MS;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    this.#timer = setTimeout(() => {
      this.#beats += 1;
      this.#schedule();
    }, EVERY_MS);
  }
}
