/** The share of the cells that may be in use. */
const MAX_LOAD = 0.7;

/** A set of positive integers. It takes 8 to 23 bytes for each. A `Set` takes about 40 and holds at most 2^24. */
export class HashSet {
  size = 0;
  #cells = new Float64Array(2 ** 12);

  /** Adds the hash. Returns whether it is new. */
  add(hash: number): boolean {
    if (this.size >= this.#cells.length * MAX_LOAD) this.#grow();
    const cell = find(this.#cells, hash);
    if (this.#cells[cell] === hash) return false;
    this.#cells[cell] = hash;
    this.size += 1;
    return true;
  }

  #grow(): void {
    const cells = new Float64Array(this.#cells.length * 2);
    for (const hash of this.#cells) if (hash !== 0) cells[find(cells, hash)] = hash;
    this.#cells = cells;
  }
}

/** Returns the cell that contains the hash, or the free cell for it. */
function find(cells: Float64Array, hash: number): number {
  const mask = cells.length - 1; // The size is a power of two, at most 2^31.
  let cell = hash & mask;
  while (cells[cell] !== 0 && cells[cell] !== hash) cell = (cell + 1) & mask;
  return cell;
}
