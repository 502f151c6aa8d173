const EVERY_MS = 10;

/** Feels how late this process is with everything, as it is on a machine that is busy with others. */
export class Pulse {
  readonly #timer: NodeJS.Timeout;
  #lastMs = performance.now();
  #lateMs = 0;

  constructor() {
    this.#timer = setInterval(() => this.#beat(), EVERY_MS);
  }

  /** By how much it was late since the beginning, all in all. */
  get lateMs(): number {
    return this.#lateMs;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #beat(): void {
    const nowMs = performance.now();
    this.#lateMs += Math.max(0, nowMs - this.#lastMs - EVERY_MS);
    this.#lastMs = nowMs;
  }
}
