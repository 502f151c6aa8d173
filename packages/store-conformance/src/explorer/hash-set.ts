/** Share of the slots that may be in use. */
const FULL = 0.7;

/** A set of positive integers. It takes 8 to 23 bytes for each, where a `Set` takes about 40 and ends at 2^24. */
export class HashSet {
  size = 0;
  #slots = new Float64Array(2 ** 12);

  /** Adds it; whether it is new. */
  add(hash: number): boolean {
    if (this.size >= this.#slots.length * FULL) this.#grow();
    const slot = find(this.#slots, hash);
    if (this.#slots[slot] === hash) return false;
    this.#slots[slot] = hash;
    this.size += 1;
    return true;
  }

  #grow(): void {
    const slots = new Float64Array(this.#slots.length * 2);
    for (const hash of this.#slots) if (hash !== 0) slots[find(slots, hash)] = hash;
    this.#slots = slots;
  }
}

/** The slot that holds the hash, or the free one where it belongs. */
function find(slots: Float64Array, hash: number): number {
  const mask = slots.length - 1; // A power of two, less one; at most 2^31 slots.
  let slot = hash & mask;
  while (slots[slot] !== 0 && slots[slot] !== hash) slot = (slot + 1) & mask;
  return slot;
}
