import TinyQueue from 'tinyqueue';

/** Trimming the front of a shorter list costs more than it saves. */
const MIN_TRIM = 32;

/** The slots of one caller, numbered from 1. Memory is proportional to the slots in use. */
export class Slots {
  readonly owner: number;
  /** When each used slot was taken, oldest first, and which slot it is. */
  #times: number[] = [];
  #taken: number[] = [];
  /** The index of the first used slot in both lists. */
  #start = 0;
  /** Free slots below `#nextSlot`. */
  readonly #free = new TinyQueue<number>();
  /** The first slot that was never taken. */
  #nextSlot = 1;

  constructor(owner: number) {
    this.owner = owner;
  }

  /** When a slot was last taken. */
  get newestMicros(): number {
    return this.#times.at(-1)!;
  }

  /** Takes the first free slot, after it has released all slots taken at `expiredMicros` or before. */
  take(micros: number, expiredMicros: number): number {
    this.#release(expiredMicros);
    const slot = this.#free.pop() ?? this.#nextSlot++;
    this.#times.push(micros);
    this.#taken.push(slot);
    return slot;
  }

  #release(expiredMicros: number): void {
    const times = this.#times;
    while (this.#start < times.length && times[this.#start]! <= expiredMicros)
      this.#free.push(this.#taken[this.#start++]!);
    if (this.#start < times.length) this.#trim();
    else if (this.#start > 0) this.#clear();
  }

  /** Starts over, because all slots are free. */
  #clear(): void {
    this.#times = [];
    this.#taken = [];
    this.#start = 0;
    this.#free.data.length = 0;
    this.#free.length = 0;
    this.#nextSlot = 1;
  }

  #trim(): void {
    if (this.#start < MIN_TRIM || this.#start * 2 < this.#times.length) return;
    this.#times = this.#times.slice(this.#start);
    this.#taken = this.#taken.slice(this.#start);
    this.#start = 0;
  }
}
