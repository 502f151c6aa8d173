import type { StateOwner } from '../operations/states.js';
import { PriorityQueue } from '../util/priority-queue.js';
import type { Cell } from './cell.js';
import { UNQUEUED } from './expiry-queue.js';
import { type Namespace, NO_NAMESPACE, type SizeMember } from './namespace.js';

/**
 * All namespaces. One queue has them by the time at which their first key may be dropped. Another one has them by size. Each
 * method takes O(log namespaces).
 */
export class Namespaces {
  readonly #byName = new Map<string, Namespace>();
  #queue = new PriorityQueue<Namespace>();
  #sizes = new PriorityQueue<SizeMember>();
  #size = 0;

  constructor(readonly maxKeys: number) {}

  /** The number of keys. */
  get size(): number {
    return this.#size;
  }

  /** Whether a new key must evict another one. */
  get isFull(): boolean {
    return this.#size >= this.maxKeys;
  }

  /** The namespace whose first key may be dropped first. Its `priority` is that time. */
  get first(): Namespace | undefined {
    return this.#queue.first;
  }

  /** Returns the namespace of a rule or a counter, if it has keys. From then on, it is the `owner` of the namespace. */
  of(owner: StateOwner): Namespace {
    const namespace = this.#byName.get(owner.namespace);
    if (namespace === undefined) return NO_NAMESPACE;
    namespace.owner = owner;
    return namespace;
  }

  /** Adds the key of a new cell, which is not queued yet. */
  add({ namespace, address }: Cell, key: string): void {
    namespace.addresses.set(key, address);
    this.#size += 1;
    this.#sizes.set(namespace.sizeMember, -namespace.addresses.size);
    if (namespace.addresses.size === 1) this.#byName.set(namespace.name, namespace);
  }

  /** Removes the key and releases its cell. */
  remove(cell: Cell): void {
    const { namespace, key } = cell;
    if (cell.queueIndex !== UNQUEUED) this.dequeue(cell);
    namespace.addresses.delete(key);
    cell.release();
    this.#size -= 1;
    if (namespace.addresses.size > 0) {
      this.#sizes.set(namespace.sizeMember, -namespace.addresses.size);
      return;
    }
    this.#byName.delete(namespace.name);
    namespace.owner = undefined;
    this.#sizes.remove(namespace.sizeMember);
  }

  /** Queues a key that is not queued. */
  enqueue({ namespace, address, unqueuedKey }: Cell, micros: number): void {
    namespace.queue.add(micros, unqueuedKey, address);
    if (namespace.queue.firstMicros === micros) this.requeue(namespace); // It may be the first one.
  }

  /** Queues a queued key for another time. */
  move({ namespace, queueIndex }: Cell, micros: number): void {
    namespace.queue.move(queueIndex, micros);
    this.requeue(namespace);
  }

  /** Takes a queued key out of the queue of its namespace. */
  dequeue(cell: Cell): void {
    const { namespace, key, queueIndex } = cell;
    namespace.queue.remove(queueIndex);
    cell.unqueue(key);
    this.requeue(namespace);
  }

  /** Corrects the namespace's position. Call it when its first key or its grace has changed. */
  requeue(namespace: Namespace): void {
    const { firstMicros } = namespace.queue;
    if (firstMicros === undefined) this.#queue.remove(namespace);
    else this.#queue.set(namespace, firstMicros + namespace.graceMicros);
  }

  clear(): void {
    for (const namespace of this.#byName.values()) {
      namespace.addresses.clear();
      namespace.owner = undefined;
    }
    this.#byName.clear();
    this.#queue = new PriorityQueue();
    this.#sizes = new PriorityQueue();
    this.#size = 0;
  }

  [Symbol.iterator](): Iterator<Namespace> {
    return this.#byName.values();
  }

  /**
   * Returns the namespace that evicts a key to make room for a new one of `namespace`, when there are `maxKeys` keys or
   * more. The share of each namespace is `maxKeys / namespaces`. A namespace that has reached its share evicts its own
   * key. Otherwise the largest namespace does. Returns `undefined` if no key is queued.
   *
   * So no namespace loses a key to another one while it has at most its share, rounded down. Proof: when `namespace` has
   * less than its share, all others together have more than their shares. So the largest has more than its share, and
   * has at least that share after the eviction. If its only key is not queued, each share is below one key.
   */
  findEvictionSource(namespace: Namespace): Namespace | undefined {
    const isNew = namespace.addresses.size === 0;
    const share = this.maxKeys / (this.#byName.size + (isNew ? 1 : 0));
    const source = namespace.addresses.size >= share ? namespace : this.#sizes.first?.namespace;
    return source !== undefined && source.queue.size > 0 ? source : this.first;
  }
}
