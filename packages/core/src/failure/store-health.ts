import { MemoryStore } from '../memory/memory-store.js';
import type { Keys, Plan } from '../plan/plan.js';
import type { CountingStore } from '../store/capabilities.js';
import type { Store } from '../store/store.js';
import { getOrInsert } from '../util/get-or-insert.js';
import { PartHealth } from './part-health.js';

const stores = new WeakMap<Store | CountingStore, StoreHealth>();

/** The health of all parts of a store, and its fallback memory. All limiters of the store in this process share it. */
export class StoreHealth {
  readonly #store: Store | CountingStore;
  readonly #parts = new Map<string, PartHealth>();
  #fallback: MemoryStore | undefined;

  private constructor(store: Store | CountingStore) {
    this.#store = store;
  }

  /** Returns the health of this store. */
  static of(store: Store | CountingStore): StoreHealth {
    return getOrInsert(stores, store, () => new StoreHealth(store));
  }

  /**
   * The memory of this process that decides during an outage, by the store's clock if it has one. Limiters that share
   * keys in the store share them here, too.
   */
  get fallback(): MemoryStore {
    this.#fallback ??= new MemoryStore({ clock: this.#store.clock });
    return this.#fallback;
  }

  /** Drops the keys in the fallback memory, if there is one. */
  resetFallback(plan: Plan, keys: Keys): void {
    this.#fallback?.reset(plan, keys);
  }

  /** Returns the health of one part of the store. A store without parts uses an empty name. */
  ofPart(part: string): PartHealth {
    return this.#parts.get(part) ?? getOrInsert(this.#parts, part, () => new PartHealth(this.#store, part));
  }
}
