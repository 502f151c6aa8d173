/*
 * The memory of a key: its namespace has a `Map` from the key to the address of one cell of a `Slab`. The cell is
 *
 *   0  QUEUE   the index of the key in the expiry queue of its namespace, or `UNQUEUED` (expiry-queue.ts)
 *   1  LIFE    identifies this life of the key; each life has another number
 *   2  the state, as its algorithm describes it (`limits/`)
 *
 * Code that moves a cell sets its address in the `Map` and in the queue. No address outlives the operation that read it, so
 * receipts contain the key and its life.
 */
import type { KeyState } from '../operations/states.js';
import { QUEUE, UNQUEUED } from './expiry-queue.js';
import { type Namespace, NO_NAMESPACE } from './namespace.js';
import { CHUNK_BITS, NO_NUMBERS, OFFSET_MASK, offsetOf, roundUp, type Slab } from './slab.js';

/** Where the life is, counted from the state. */
export const LIFE = -1;
/** How many numbers a cell has before the state. */
export const HEAD = 2;

/** No cell has this address. */
export const NOWHERE = -1;

/** The most numbers that a loop copies in less time than `set`, which needs another array. */
const MOST_LOOPED = 16;

/** A view of the cell of one key, for the time of one operation. */
export class Cell implements KeyState {
  numbers: Float64Array = NO_NUMBERS;
  start = HEAD;
  size = 0;
  /** Whether the key has no cell, or one whose state has expired. */
  isNew = false;
  /** When the state expires, as of the lookup. `Infinity` for a key that is added since, and so is not queued. */
  expiresMicros = 0.5; // A fraction makes V8 reserve room for any number.
  /** The namespace of the last lookup. The next lookup is often for the same limit. */
  namespace: Namespace = NO_NAMESPACE;
  /** The address of the cell, or `NOWHERE` if the key has none. */
  address = NOWHERE;
  readonly #slab: Slab;
  readonly #chunks: Slab['chunks'];
  /** The key, while it is not in the queue. */
  unqueuedKey = '';

  get diesWithProcess(): boolean {
    return true;
  }

  constructor(slab: Slab) {
    this.#slab = slab;
    this.#chunks = slab.chunks;
  }

  /** Identifies the life of the key. */
  get life(): number {
    return this.numbers[this.start + LIFE]!;
  }

  /** The index in the expiry queue, or `UNQUEUED`. */
  get queueIndex(): number {
    return this.#slab.chunkAt(this.address).numbers[offsetOf(this.address) + QUEUE]!;
  }

  /** The table's copy of the key. A view has no own one, because that would be a young object in an old one at each check. */
  get key(): string {
    const { queueIndex } = this;
    return queueIndex === UNQUEUED ? this.unqueuedKey : this.namespace.queue.keyAt(queueIndex);
  }

  /** Turns to the cell at this address. */
  open(namespace: Namespace, address: number): this {
    this.namespace = namespace;
    return this.turnTo(address);
  }

  /** Turns to the cell at this address, in the same namespace. */
  turnTo(address: number): this {
    const { numbers, cellSize } = this.#chunks[address >>> CHUNK_BITS]!;
    this.address = address;
    this.numbers = numbers;
    this.size = cellSize - HEAD;
    this.start = (address & OFFSET_MASK) + HEAD;
    return this;
  }

  /** Turns to a key that has no cell. */
  close(): this {
    this.address = NOWHERE;
    this.isNew = true;
    return this;
  }

  /** Allocates the cell of a new key, which is not in its namespace yet. */
  allocate(namespace: Namespace, key: string, size: number): void {
    this.open(namespace, this.#slab.allocate(HEAD + size));
    this.numbers[this.start - HEAD + QUEUE] = UNQUEUED;
    this.unqueuedKey = key;
  }

  /** Turns to the numbers of no key, which a test may read as a state. The state follows a head. */
  openBlank(numbers: Float64Array, size: number): void {
    this.numbers = numbers;
    this.start = HEAD;
    this.size = size;
  }

  /** Call it when the key is in no queue. */
  unqueue(key: string): void {
    this.#slab.chunkAt(this.address).numbers[offsetOf(this.address) + QUEUE] = UNQUEUED;
    this.unqueuedKey = key;
  }

  release(): void {
    this.#slab.release(this.address);
    this.close();
  }

  resize(size: number): void {
    const { numbers, address } = this;
    const from = this.start - HEAD;
    const kept = HEAD + Math.min(size, this.size);
    if (roundUp(HEAD + size) === HEAD + this.size) return;
    this.turnTo(this.#slab.allocate(HEAD + size));
    const to = this.start - HEAD;
    if (kept > MOST_LOOPED) this.numbers.set(numbers.subarray(from, from + kept), to);
    else for (let index = 0; index < kept; index++) this.numbers[to + index] = numbers[from + index]!;
    this.#slab.release(address);
    this.namespace.addresses.set(this.key, this.address);
    if (this.queueIndex !== UNQUEUED) this.namespace.queue.setAddress(this.queueIndex, this.address);
  }
}
