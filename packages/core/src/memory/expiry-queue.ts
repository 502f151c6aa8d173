import { offsetOf, type Slab } from './slab.js';

/** Where a cell has its key's index in the queue. */
export const QUEUE = 0;
/** A new key is not queued until its limit has recorded, nor is one that its own check must not evict. */
export const UNQUEUED = -1;

/** A heap of four children per member has half the levels of a binary one, so half the cells to write. */
const CHILDREN_BITS = 2;
const CHILDREN = 1 << CHILDREN_BITS;

/**
 * Keys by the time for which they are queued, as a heap. The cell of each key contains its index in the heap, so that
 * any key can be moved or removed in O(log n).
 */
export class ExpiryQueue {
  readonly #micros: number[] = [];
  readonly #keys: string[] = [];
  readonly #addresses: number[] = [];

  constructor(private readonly slab: Slab) {}

  get size(): number {
    return this.#keys.length;
  }

  get firstMicros(): number | undefined {
    return this.#micros[0];
  }

  /** The time for which the member at `index` is queued. The first member, at 0, has the earliest time. */
  microsAt(index: number): number {
    return this.#micros[index]!;
  }

  keyAt(index: number): string {
    return this.#keys[index]!;
  }

  addressAt(index: number): number {
    return this.#addresses[index]!;
  }

  /** Call it when the cell of the member at `index` has moved. */
  setAddress(index: number, address: number): void {
    this.#addresses[index] = address;
  }

  add(micros: number, key: string, address: number): void {
    this.#place(this.size, micros, key, address);
  }

  /** Queues the member at `index` for another time. */
  move(index: number, micros: number): void {
    this.#place(index, micros, this.#keys[index]!, this.#addresses[index]!);
  }

  remove(index: number): void {
    this.#setIndex(this.#addresses[index]!, UNQUEUED);
    const micros = this.#micros.pop()!;
    const key = this.#keys.pop()!;
    const address = this.#addresses.pop()!;
    if (index < this.size) this.#place(index, micros, key, address);
  }

  /** Puts a member at `index`, or nearer to the front before later ones, or farther back behind earlier ones. */
  #place(index: number, micros: number, key: string, address: number): void {
    let at = index;
    while (at > 0) {
      const parent = (at - 1) >> CHILDREN_BITS;
      if (this.#micros[parent]! <= micros) break;
      this.#copy(parent, at);
      at = parent;
    }
    if (at === index) {
      for (let child = this.#firstChild(at); child > 0 && this.#micros[child]! < micros; child = this.#firstChild(at)) {
        this.#copy(child, at);
        at = child;
      }
    }
    this.#set(at, micros, key, address);
  }

  /** The index of the child with the earliest time, or -1 without children. */
  #firstChild(index: number): number {
    let first = CHILDREN * index + 1;
    if (first >= this.size) return -1;
    const end = Math.min(first + CHILDREN, this.size);
    for (let child = first + 1; child < end; child++) {
      if (this.#micros[child]! < this.#micros[first]!) first = child;
    }
    return first;
  }

  #copy(from: number, to: number): void {
    this.#set(to, this.#micros[from]!, this.#keys[from]!, this.#addresses[from]!);
  }

  #set(index: number, micros: number, key: string, address: number): void {
    this.#micros[index] = micros;
    this.#keys[index] = key;
    this.#addresses[index] = address;
    this.#setIndex(address, index);
  }

  /** Writes the index of a member into its cell. */
  #setIndex(address: number, index: number): void {
    this.slab.chunkAt(address).numbers[offsetOf(address) + QUEUE] = index;
  }
}
