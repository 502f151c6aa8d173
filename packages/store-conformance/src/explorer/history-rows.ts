/** Histories of one length, stored end to end in one block of memory. */
export class HistoryRows {
  count = 0;
  readonly #width: number;
  #codes: Uint16Array;

  constructor(width: number) {
    this.#width = width;
    this.#codes = new Uint16Array(1024 * (width + 1));
  }

  /** Adds a history: one of a step less, and its last step. */
  add(steps: ArrayLike<number>, last: number): void {
    const end = (this.count + 1) * this.#width;
    if (end > this.#codes.length) {
      const codes = new Uint16Array(this.#codes.length * 2);
      codes.set(this.#codes);
      this.#codes = codes;
    }
    this.#codes.set(steps, end - this.#width);
    this.#codes[end - 1] = last;
    this.count += 1;
  }

  /** The history at `index`. */
  at(index: number): Uint16Array {
    return this.#codes.subarray(index * this.#width, (index + 1) * this.#width);
  }
}
