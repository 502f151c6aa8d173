import { emitWarning } from '../base/platform.js';
import { describeFullStore } from '../validation/warning-texts.js';
import { Entry } from './entry.js';
import type { Namespace } from './namespace.js';
import type { Namespaces } from './namespaces.js';
import type { Slab } from './slab.js';

/** How many keys an eviction queues for their true expiry. A check must not wait for all that have been hit again. */
const MOST_DEFERRALS = 16;

/** How many keys an eviction looks at to find an implausible one. */
const PLAUSIBILITY_TESTS = 16;

/**
 * Drops expired keys, and evicts others from a full store. Each call takes a bounded number of steps. `kept` are the entries of
 * the running operation. Their keys leave the queue instead of being dropped.
 */
export class Reclaimer {
  readonly #namespaces: Namespaces;
  readonly #maxKeys: number;
  readonly #entry: Entry;
  #hasWarned = false;

  constructor(namespaces: Namespaces, slab: Slab, maxKeys: number) {
    this.#namespaces = namespaces;
    this.#maxKeys = maxKeys;
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

  /** Evicts keys until there is room for one of this namespace, or only keys of the running operation are left. */
  makeRoom(namespace: Namespace, nowMicros: number, kept: readonly Entry[]): void {
    while (this.#namespaces.size >= this.#maxKeys) {
      const source = this.#namespaces.findEvictionSource(namespace, this.#maxKeys);
      if (source === undefined) return;
      this.#evict(source, nowMicros, kept);
      this.#warnOnce();
    }
  }

  /**
   * Evicts a key of this namespace, whose queue is not empty.
   *
   * An implausible key goes first, because its expiry is far away and it limits nothing. Then goes the key that expires
   * first. If many keys have been hit since they were queued, it is the first to expire of some of them.
   */
  #evict(namespace: Namespace, nowMicros: number, kept: readonly Entry[]): void {
    const entry = this.#findImplausible(namespace, nowMicros) ?? this.#findFirst(namespace);
    this.#drop(entry, kept);
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

  /** Looks at some keys, and at others the next time. So it finds implausible keys while they are many. */
  #findImplausible(namespace: Namespace, nowMicros: number): Entry | undefined {
    const { queue, lifecycle } = namespace;
    const latestMicros = nowMicros + lifecycle.keepMicros;
    const tests = Math.min(PLAUSIBILITY_TESTS, queue.size);
    for (let test = 0; test < tests; test++) {
      namespace.lastTested = (namespace.lastTested + 1) % queue.size;
      if (queue.microsAt(namespace.lastTested) <= latestMicros) continue;
      const entry = this.#open(namespace, namespace.lastTested);
      if (!lifecycle.isPlausible(entry, nowMicros)) return entry;
    }
    return undefined;
  }

  #findFirst(namespace: Namespace): Entry {
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

  #open(namespace: Namespace, index: number): Entry {
    const { queue } = namespace;
    return this.#entry.open(namespace, queue.keyAt(index), queue.addressAt(index));
  }

  #warnOnce(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    emitWarning(describeFullStore(this.#maxKeys), { type: 'RollgateWarning', code: 'ROLLGATE_KEYS_EVICTED' });
  }
}
