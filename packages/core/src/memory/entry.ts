import type { KeyState } from '../engine/states.js';
import { HEAD, LIFE, QUEUE, UNQUEUED } from './block-head.js';
import type { BlockNamespace } from './block-namespace.js';
import { offsetOf, roundUp, type Slab } from './slab.js';

const NO_NUMBERS = new Float64Array(0);
/** No block has this address. */
const CLOSED = -1;

/** The most numbers that a loop copies in less time than `set`, which needs another array. */
const MOST_LOOPED = 16;

/** A view of one key's block, for the time of one operation. */
export class Entry implements KeyState {
  numbers: Float64Array = NO_NUMBERS;
  start = 0;
  size = 0;
  /** The index of the block's first number. */
  head = 0;
  /** When the state expires, as of the lookup. */
  expiresMicros = 0.5; // A fraction makes V8 reserve room for any number.
  namespace!: BlockNamespace;
  key = '';
  address = CLOSED;
  readonly #slab: Slab;

  get diesWithProcess(): boolean {
    return true;
  }

  constructor(slab: Slab) {
    this.#slab = slab;
  }

  get life(): number {
    return this.numbers[this.head + LIFE]!;
  }

  set life(life: number) {
    this.numbers[this.head + LIFE] = life;
  }

  /** The index in the expiry queue, or `UNQUEUED`. */
  get queueIndex(): number {
    return this.numbers[this.head + QUEUE]!;
  }

  /** Turns to the block at this address. */
  open(namespace: BlockNamespace, key: string, address: number): this {
    this.namespace = namespace;
    this.key = key;
    this.#moveTo(address);
    return this;
  }

  /** Allocates a block for a new key, which is not in its namespace yet. */
  allocate(namespace: BlockNamespace, key: string, size: number): this {
    this.open(namespace, key, this.#slab.allocate(HEAD + size));
    this.numbers[this.head + QUEUE] = UNQUEUED;
    return this;
  }

  release(): void {
    this.#slab.release(this.address);
    this.close();
  }

  /** Turns away from the block, which may have moved by the next operation. */
  close(): void {
    this.address = CLOSED;
  }

  resize(size: number): void {
    const { numbers, head, address } = this;
    const kept = HEAD + Math.min(size, this.size);
    if (roundUp(HEAD + size) === HEAD + this.size) return;
    this.#moveTo(this.#slab.allocate(HEAD + size));
    if (kept > MOST_LOOPED) this.numbers.set(numbers.subarray(head, head + kept), this.head);
    else for (let index = 0; index < kept; index++) this.numbers[this.head + index] = numbers[head + index]!;
    this.#slab.release(address);
    this.namespace.places.set(this.key, this.address);
    if (this.queueIndex !== UNQUEUED) this.namespace.queue.setAddress(this.queueIndex, this.address);
  }

  #moveTo(address: number): void {
    const head = offsetOf(address);
    this.address = address;
    this.numbers = this.#slab.numbersAt(address);
    this.head = head;
    this.start = head + HEAD;
    this.size = this.#slab.blockSizeAt(address) - HEAD;
  }
}
