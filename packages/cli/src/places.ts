import TinyQueue from 'tinyqueue';

/** Cutting the front of a shorter list is not worth its while. */
const LEAST_CUT = 32;

/** The row of places of one caller, the first of which is 1. Memory follows those that are taken. */
export class Places {
  readonly owner: number;
  /** When each place that is taken was, oldest first, and beside it which. */
  #times: number[] = [];
  #taken: number[] = [];
  /** Where those that are taken still begin in both lists. */
  #start = 0;
  /** Below `#beyond`, and not taken. */
  readonly #free = new TinyQueue<number>();
  /** From here on no place was taken yet. */
  #beyond = 1;

  constructor(owner: number) {
    this.owner = owner;
  }

  /** When a place was taken last. */
  get newestMicros(): number {
    return this.#times.at(-1)!;
  }

  /** Takes the first free place; free are those that were taken at `leftMicros` or before. */
  take(micros: number, leftMicros: number): number {
    this.#release(leftMicros);
    const place = this.#free.pop() ?? this.#beyond++;
    this.#times.push(micros);
    this.#taken.push(place);
    return place;
  }

  #release(leftMicros: number): void {
    const times = this.#times;
    while (this.#start < times.length && times[this.#start]! <= leftMicros)
      this.#free.push(this.#taken[this.#start++]!);
    if (this.#start < times.length) this.#cut();
    else if (this.#start > 0) this.#clear();
  }

  /** All are free: as if there had been none. */
  #clear(): void {
    this.#times = [];
    this.#taken = [];
    this.#start = 0;
    this.#free.data.length = 0;
    this.#free.length = 0;
    this.#beyond = 1;
  }

  #cut(): void {
    if (this.#start < LEAST_CUT || this.#start * 2 < this.#times.length) return;
    this.#times = this.#times.slice(this.#start);
    this.#taken = this.#taken.slice(this.#start);
    this.#start = 0;
  }
}
