import type { BlockNamespace } from './block-namespace.js';
import type { BlockNamespaces } from './block-namespaces.js';
import { Entry } from './entry.js';
import type { Slab } from './slab.js';

/** How many keys an eviction queues for their true expiry. A check must not wait for all that have been hit again. */
const MOST_DEFERRALS = 16;

/**
 * Drops expired keys, and evicts others from a full store. Each call takes a bounded number of steps. `kept` are the entries of
 * the running operation. Their keys leave the queue instead of being dropped.
 */
export class Reclaimer {
  readonly #namespaces: BlockNamespaces;
  readonly #entry: Entry;

  constructor(namespaces: BlockNamespaces, slab: Slab) {
    this.#namespaces = namespaces;
    this.#entry = new Entry(slab);
  }

  /** Drops keys whose grace is over, in at most `steps` steps. Returns whether any may be left. */
  sweep(nowMicros: number, steps: number, kept: readonly Entry[] = []): boolean {
    for (let step = 0; step < steps; step++) {
      const namespace = this.#namespaces.first;
      if (namespace === undefined || namespace.priority > nowMicros) return false;
      const entry = this.#open(namespace, 0);
      const expiresMicros = namespace.lifecycle.expiresMicros(entry);
      if (expiresMicros > namespace.queue.microsAt(0)) this.#namespaces.move(entry, expiresMicros);
      else this.#drop(entry, kept);
    }
    return true;
  }

  /**
   * Evicts a key of this namespace, whose queue is not empty.
   *
   * An implausible key goes first, because its expiry is far away and it limits nothing. Then goes the key that expires
   * first. If many keys have been hit since they were queued, it is the first to expire of some of them.
   */
  evict(namespace: BlockNamespace, nowMicros: number, kept: readonly Entry[]): void {
    const latestMicros = nowMicros + namespace.lifecycle.keepMicros;
    const implausible = namespace.findImplausible(nowMicros, (index) =>
      namespace.queue.microsAt(index) > latestMicros ? this.#open(namespace, index) : undefined,
    );
    this.#drop(implausible ?? this.#findFirst(namespace), kept);
  }

  #drop(entry: Entry, kept: readonly Entry[]): void {
    const keptEntry = kept.find((other) => other.address === entry.address);
    if (keptEntry === undefined) {
      this.#namespaces.remove(entry);
      return;
    }
    keptEntry.key = entry.key; // The table's copy, for when the key is queued again.
    this.#namespaces.dequeue(entry);
  }

  #findFirst(namespace: BlockNamespace): Entry {
    const { queue, lifecycle } = namespace;
    let firstMicros = Infinity;
    let [firstKey, firstAddress] = [queue.keyAt(0), queue.addressAt(0)];
    for (let step = 0; step < MOST_DEFERRALS; step++) {
      const entry = this.#open(namespace, 0);
      const expiresMicros = lifecycle.expiresMicros(entry);
      if (expiresMicros <= queue.microsAt(0)) return entry;
      if (expiresMicros < firstMicros) {
        [firstMicros, firstKey, firstAddress] = [expiresMicros, entry.key, entry.address];
      }
      this.#namespaces.move(entry, expiresMicros);
    }
    return this.#entry.open(namespace, firstKey, firstAddress);
  }

  #open(namespace: BlockNamespace, index: number): Entry {
    const { queue } = namespace;
    return this.#entry.open(namespace, queue.keyAt(index), queue.addressAt(index));
  }
}
