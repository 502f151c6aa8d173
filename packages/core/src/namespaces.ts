import type { Entry } from './entry.js';
import type { Namespace, SizeMember } from './namespace.js';
import { PriorityQueue } from './priority-queue.js';

/** The queue of a namespace may contain this many members of removed keys, in addition to one for each key. */
const MOST_STALE = 64;

/**
 * All keys, by namespace. Each namespace queues its keys by expiry, so that it can evict the one that expires first. One
 * queue has the namespaces by the first time in their queues. Another one has them by size, so that finding the largest
 * takes O(log namespaces).
 *
 * Each key is queued for the time in its block, which is its expiry or earlier. So a hit, which only postpones the expiry,
 * does not touch the queue. A member whose key is gone, or queued for another time, is stale.
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

  /** The namespace with the earliest time in its queue. */
  get first(): Namespace | undefined {
    return this.#queue.first;
  }

  get(name: string): Namespace | undefined {
    if (this.#last?.name !== name) this.#last = this.#byName.get(name);
    return this.#last;
  }

  /** Adds the key of a new or evicted entry. */
  add(entry: Entry, micros: number): void {
    const { namespace } = entry;
    namespace.addresses.set(entry.key, entry.address);
    this.#size += 1;
    const { size } = namespace.addresses;
    if (namespace.queueIndex < 0) {
      this.#byName.set(namespace.name, namespace);
      this.#last = namespace;
      this.#queue.add(namespace, micros);
      this.#sizes.add(namespace.sizeMember, -size);
    } else if (-size < namespace.sizeMember.priority) {
      this.#sizes.move(namespace.sizeMember, -size);
    }
    this.enqueue(entry, micros);
  }

  /** Queues the entry for this time. A member for an earlier time is stale then. */
  enqueue(entry: Entry, micros: number): void {
    const { namespace } = entry;
    entry.queuedMicros = micros;
    namespace.queue.add(micros, entry.key);
    this.requeue(namespace);
  }

  /** Queues the first key of the namespace for a later time. `entry` is its entry. */
  deferFirst(entry: Entry, micros: number): void {
    entry.queuedMicros = micros;
    entry.namespace.queue.deferFirst(micros);
    this.requeue(entry.namespace);
  }

  /** Drops the first member of the namespace's queue. The namespace has others. */
  dropFirst(namespace: Namespace): void {
    namespace.queue.removeFirst();
    this.requeue(namespace);
  }

  /** Removes the key of the entry, but keeps its block. */
  remove(entry: Entry): void {
    const { namespace } = entry;
    namespace.addresses.delete(entry.key);
    entry.queuedMicros = -Infinity;
    this.#size -= 1;
    if (namespace.addresses.size > 0) {
      this.requeue(namespace);
      return;
    }
    namespace.queue.clear();
    this.#byName.delete(namespace.name);
    this.#last = undefined;
    this.#queue.remove(namespace);
    this.#sizes.remove(namespace.sizeMember);
  }

  /** Queues the namespace for the first time in its queue, if that has changed. */
  requeue(namespace: Namespace): void {
    const { firstMicros } = namespace.queue;
    if (firstMicros !== namespace.priority) this.#queue.move(namespace, firstMicros);
  }

  /** Whether the namespace's queue has so many stale members that it is time to fill it again. */
  hasStaleQueue({ queue, addresses }: Namespace): boolean {
    return queue.size > 2 * addresses.size + MOST_STALE;
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
   * key. Otherwise the largest namespace does.
   *
   * So no namespace loses a key to another one while it has at most its share, rounded down. Proof: when `namespace` has
   * less than its share, all others together have more than their shares. So the largest has more than its share, and
   * has at least that share after the eviction.
   */
  findEvictionSource(namespace: Namespace, maxKeys: number): Namespace {
    const isNew = namespace.queueIndex < 0;
    const share = maxKeys / (this.#byName.size + (isNew ? 1 : 0));
    return namespace.addresses.size >= share ? namespace : this.#findLargest();
  }

  *[Symbol.iterator](): Iterator<Namespace> {
    yield* this.#byName.values();
  }

  /** Corrects the priority of namespaces that have lost keys, until the first one is correct. */
  #findLargest(): Namespace {
    for (;;) {
      const first = this.#sizes.first as SizeMember;
      const { size } = first.namespace.addresses;
      if (-size === first.priority) return first.namespace;
      this.#sizes.move(first, -size);
    }
  }
}
