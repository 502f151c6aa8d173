/*
 * The memory of a key: its namespace has a `Map` from the key to the address of one block of a `Slab`. The block is
 *
 *   0  LIFE    identifies this life of the key; each life has another number
 *   1  QUEUED  the time for which the key is in the expiry queue, or `-Infinity` while it is not in the table
 *   2  the state, as its algorithm describes it (`limits/`)
 *
 * Code that moves a block sets its address in the `Map`. No address outlives the operation that read it, so receipts
 * contain the key and its life.
 */
import type { State } from './limits/limit.js';
import type { Namespace } from './namespace.js';
import { offsetOf, roundUp, type Slab } from './slab.js';

const LIFE = 0;
const QUEUED = 1;
const HEAD = 2;

const NO_NUMBERS = new Float64Array(0);

/** A view of one key's block, for the time of one operation. */
export class Entry implements State {
  numbers: Float64Array = NO_NUMBERS;
  start = 0;
  size = 0;
  /** When the state expires, as of the lookup. */
  expiresMicros = 0.5; // A fraction makes V8 reserve room for any number.
  namespace!: Namespace;
  key = '';
  address = 0;
  readonly #slab: Slab;

  constructor(slab: Slab) {
    this.#slab = slab;
  }

  get life(): number {
    return this.numbers[this.start - HEAD + LIFE]!;
  }

  set life(life: number) {
    this.numbers[this.start - HEAD + LIFE] = life;
  }

  get queuedMicros(): number {
    return this.numbers[this.start - HEAD + QUEUED]!;
  }

  set queuedMicros(micros: number) {
    this.numbers[this.start - HEAD + QUEUED] = micros;
  }

  /** Whether the key is in the table: not new, and not evicted since. */
  get isListed(): boolean {
    return this.queuedMicros !== -Infinity;
  }

  /** Turns to the block at this address. */
  open(namespace: Namespace, key: string, address: number): this {
    this.namespace = namespace;
    this.key = key;
    this.#moveTo(address);
    return this;
  }

  /** Allocates a block for a new key, which is not in the table yet. */
  allocate(namespace: Namespace, key: string, size: number): this {
    this.open(namespace, key, this.#slab.allocate(HEAD + size));
    this.queuedMicros = -Infinity;
    return this;
  }

  release(): void {
    this.#slab.release(this.address);
  }

  resize(size: number): void {
    const { numbers, start, address } = this;
    const kept = HEAD + Math.min(size, this.size);
    if (roundUp(HEAD + size) === HEAD + this.size) return;
    this.#moveTo(this.#slab.allocate(HEAD + size));
    for (let index = 0; index < kept; index++) this.numbers[this.start - HEAD + index] = numbers[start - HEAD + index]!;
    this.#slab.release(address);
    if (this.isListed) this.namespace.addresses.set(this.key, this.address);
  }

  #moveTo(address: number): void {
    const { numbers, blockSize } = this.#slab.chunkOf(address);
    this.address = address;
    this.numbers = numbers;
    this.start = offsetOf(address) + HEAD;
    this.size = blockSize - HEAD;
  }
}
