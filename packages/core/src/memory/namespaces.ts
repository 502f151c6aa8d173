import { emitWarning } from '../base/platform.js';
import { PriorityQueue } from '../base/priority-queue.js';
import { describeFullStore } from '../validation/warn-once.js';
import type { Namespace, SizeMember } from './namespace.js';

/**
 * All namespaces. One queue has them by the time at which their first key may be dropped. Another one has them by size. Each
 * method takes O(log namespaces).
 */
export class Namespaces<Member extends Namespace> {
  readonly #maxKeys: number;
  readonly #byName = new Map<string, Member>();
  #queue = new PriorityQueue<Member>();
  #sizes = new PriorityQueue<SizeMember>();
  /** The namespace of the last lookup. Most stores have only one. */
  #last: Member | undefined;
  #size = 0;
  #hasWarned = false;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** The number of keys. */
  get size(): number {
    return this.#size;
  }

  /** The namespace whose first key may be dropped first. Its `priority` is that time. */
  get first(): Member | undefined {
    return this.#queue.first;
  }

  get(name: string): Member | undefined {
    if (this.#last?.name !== name) this.#last = this.#byName.get(name);
    return this.#last;
  }

  /** Call it when a namespace has got a key. */
  onAdded(namespace: Member): void {
    this.#size += 1;
    this.#sizes.set(namespace.sizeMember, -namespace.places.size);
    if (namespace.places.size > 1) return;
    this.#byName.set(namespace.name, namespace);
    this.#last = namespace;
  }

  /** Call it when a namespace has lost a key. */
  onRemoved(namespace: Member): void {
    this.#size -= 1;
    if (namespace.places.size > 0) {
      this.#sizes.set(namespace.sizeMember, -namespace.places.size);
      return;
    }
    this.#byName.delete(namespace.name);
    this.#last = undefined;
    this.#sizes.remove(namespace.sizeMember);
  }

  /** Corrects the namespace's position. Call it when its first key or its grace has changed. */
  requeue(namespace: Member): void {
    const { firstMicros } = namespace.queue;
    if (firstMicros === undefined) this.#queue.remove(namespace);
    else this.#queue.set(namespace, firstMicros + namespace.graceMicros);
  }

  clear(): void {
    for (const { places } of this.#byName.values()) places.clear(); // A rule may still refer to them.
    this.#byName.clear();
    this.#last = undefined;
    this.#queue = new PriorityQueue();
    this.#sizes = new PriorityQueue();
    this.#size = 0;
  }

  /**
   * Evicts keys until there is room for one of this namespace, or only keys of the running operation are left.
   *
   * @param evict Evicts a key of a namespace whose queue is not empty, or takes a key of the running operation out of it.
   */
  makeRoom(namespace: Member, evict: (source: Member) => void): void {
    while (this.#size >= this.#maxKeys) {
      const source = this.#findEvictionSource(namespace);
      if (source === undefined) return;
      evict(source);
      if (this.#hasWarned) continue;
      this.#hasWarned = true;
      emitWarning(describeFullStore(this.#maxKeys), { type: 'RollgateWarning', code: 'ROLLGATE_KEYS_EVICTED' });
    }
  }

  [Symbol.iterator](): Iterator<Member> {
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
  #findEvictionSource(namespace: Member): Member | undefined {
    const isNew = namespace.places.size === 0;
    const share = this.#maxKeys / (this.#byName.size + (isNew ? 1 : 0));
    const source = namespace.places.size >= share ? namespace : this.#sizes.first?.namespace;
    return source !== undefined && source.queue.size > 0 ? (source as Member) : this.first;
  }
}
