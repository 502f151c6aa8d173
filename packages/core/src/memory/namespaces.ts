import { PriorityQueue } from '../base/priority-queue.js';
import { UNQUEUED } from './block-head.js';
import type { Entry } from './entry.js';
import type { Namespace, SizeMember } from './namespace.js';

/**
 * All keys, by namespace. Each namespace queues its keys by expiry, so that it can evict the one that expires first. One
 * queue has the namespaces by the time at which their first key may be dropped. Another one has them by size.
 *
 * Each key is queued for its expiry or earlier. So a hit, which only postpones the expiry, does not touch the queue. Each
 * method takes O(log keys + log namespaces).
 */
export class Namespaces {
  readonly #byName = new Map<string, Namespace>();
  readonly #queue = new PriorityQueue<Namespace>();
  readonly #sizes = new PriorityQueue<SizeMember>();
  /** The namespace of the last lookup. Most stores have only one. */
  #last: Namespace | undefined;
  #size = 0;

  /** The number of keys. */
  get size(): number {
    return this.#size;
  }

  /** The namespace whose first key may be dropped first. Its `priority` is that time. */
  get first(): Namespace | undefined {
    return this.#queue.first;
  }

  get(name: string): Namespace | undefined {
    if (this.#last?.name !== name) this.#last = this.#byName.get(name);
    return this.#last;
  }

  /** Adds the key of a new entry, which is not queued yet. */
  add({ namespace, key, address }: Entry): void {
    namespace.addresses.set(key, address);
    this.#size += 1;
    this.#sizes.set(namespace.sizeMember, -namespace.addresses.size);
    if (namespace.addresses.size > 1) return;
    this.#byName.set(namespace.name, namespace);
    this.#last = namespace;
  }

  /** Removes the key and releases its block. */
  remove(entry: Entry): void {
    const { namespace } = entry;
    if (entry.queueIndex !== UNQUEUED) this.dequeue(entry);
    namespace.addresses.delete(entry.key);
    entry.release();
    this.#size -= 1;
    if (namespace.addresses.size > 0) {
      this.#sizes.set(namespace.sizeMember, -namespace.addresses.size);
      return;
    }
    this.#byName.delete(namespace.name);
    this.#last = undefined;
    this.#sizes.remove(namespace.sizeMember);
  }

  /** Queues a key that is not queued. `entry.key` is the table's copy. */
  enqueue({ namespace, key, address }: Entry, micros: number): void {
    namespace.queue.add(micros, key, address);
    this.requeue(namespace);
  }

  /** Queues a queued key for another time. */
  move({ namespace, queueIndex }: Entry, micros: number): void {
    namespace.queue.move(queueIndex, micros);
    this.requeue(namespace);
  }

  /** Takes a queued key out of the queue of its namespace. */
  dequeue({ namespace, queueIndex }: Entry): void {
    namespace.queue.remove(queueIndex);
    this.requeue(namespace);
  }

  /** Corrects the namespace's position. Call it when its first key or its grace has changed. */
  requeue(namespace: Namespace): void {
    const { queue } = namespace;
    if (queue.size === 0) this.#queue.remove(namespace);
    else this.#queue.set(namespace, queue.microsAt(0) + namespace.graceMicros);
  }

  clear(): void {
    for (const namespace of this.#byName.values()) {
      namespace.addresses.clear();
      namespace.queue.clear();
    }
    this.#byName.clear();
    this.#last = undefined;
    this.#queue.clear();
    this.#sizes.clear();
    this.#size = 0;
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
  findEvictionSource(namespace: Namespace, maxKeys: number): Namespace | undefined {
    const isNew = namespace.addresses.size === 0;
    const share = maxKeys / (this.#byName.size + (isNew ? 1 : 0));
    const source = namespace.addresses.size >= share ? namespace : this.#sizes.first?.namespace;
    return source !== undefined && source.queue.size > 0 ? source : this.first;
  }

  *[Symbol.iterator](): Iterator<Namespace> {
    yield* this.#byName.values();
  }
}
