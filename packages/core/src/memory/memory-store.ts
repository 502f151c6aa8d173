import type { Decision } from '../decision/decision.js';
import { check, peek } from '../operations/decide.js';
import { StateStore } from '../operations/state-store.js';
import type { Costs, Keys, Plan, Rule } from '../plan/plan.js';
import type { CountingStore, Store } from '../store/store.js';
import { toStoredKeys } from '../store/stored-key.js';
import { type Clock, monotonicClock, validateClock } from '../time/clock.js';
import { validateOptionNames, validatePositiveInteger } from '../validation/validate.js';
import type { Cell } from './cell.js';
import { KeyTable } from './key-table.js';

/** The options of {@link MemoryStore}. */
export interface MemoryStoreOptions {
  /**
   * The clock by which the store decides.
   *
   * @defaultValue {@link monotonicClock}
   */
  clock?: Clock | undefined;
  /**
   * The most keys that the store holds, all limits together. When it is full, a new key evicts the key of the same
   * limit that expires first, and the store emits the warning `ROLLGATE_KEYS_EVICTED` once. To bound the time of one
   * check, the store compares only some keys when many were hit again since it last ordered them.
   *
   * The share of each limit is `maxKeys` divided by the number of limits that have keys. A limit with less than its
   * share instead evicts a key of the limit that has the most keys. So a flood of keys of one limit cannot evict keys
   * of a limit that has at most its share. A check never evicts its own keys, even if they are more than `maxKeys`.
   *
   * One limit can have at most 2^24 keys, the capacity of a `Map`.
   *
   * @defaultValue 1,000,000
   */
  maxKeys?: number | undefined;
}

const DEFAULT_MAX_KEYS = 1_000_000;

/** Registered, so that two installed versions of this package recognize each other's `MemoryStore`. */
const MEMORY_STORE = Symbol.for('@rollgate/core MemoryStore');

/**
 * Whether the store is a {@link MemoryStore} of any installed version of this package: it is synchronous and never
 * fails.
 */
export function isMemoryStore(store: unknown): store is MemoryStore {
  return typeof store === 'object' && store !== null && MEMORY_STORE in store;
}

/**
 * Keeps the state in this process's memory and decides synchronously.
 *
 * The time of a check grows at most logarithmically with the number of keys. The states are outside the heap, so garbage
 * collection does not visit them. The memory per key is bounded, because the store keeps the hash of a key of more than
 * 200 UTF-16 code units. The store reuses the memory of a dropped key for keys of the same size. Once no key is left in a
 * chunk of 64 KiB, the store reuses the chunk for other sizes or returns it to the system.
 *
 * Each new key drops a few expired ones, and a timer drops the rest. The timer does not keep the process alive and stops
 * when the store is empty.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { MemoryStore, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
 *
 * const clock = manualClock();
 * const store = new MemoryStore({ clock, maxKeys: 50_000 });
 * const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }), store });
 * (await limiter.check('ann')).allowed; // => true
 * clock.advance(59_999);
 * (await limiter.check('ann')).retryAfterMs; // => 1
 * clock.advance(1);
 * (await limiter.check('ann')).allowed; // => true
 * ```
 */
export class MemoryStore extends StateStore<true> implements Store, CountingStore {
  /** The clock by which the store decides. */
  readonly clock: Clock;
  readonly #keys: KeyTable;

  constructor(options: MemoryStoreOptions = {}) {
    validateOptionNames('MemoryStore', options, ['clock', 'maxKeys']);
    const { clock = monotonicClock, maxKeys = DEFAULT_MAX_KEYS } = options;
    validateClock(clock);
    const keys = new KeyTable(clock, validatePositiveInteger('maxKeys', maxKeys));
    super(keys);
    this.clock = clock;
    this.#keys = keys;
  }

  /** Identifies a `MemoryStore` of any installed version of this package. */
  get [MEMORY_STORE](): true {
    return true;
  }

  /** The number of keys of all limits, including expired ones that the store has not dropped yet. */
  get size(): number {
    return this.#keys.size;
  }

  /** Like {@link Store.check}, but synchronous, as all operations of this store. */
  check({ rules }: Plan, keys: Keys, costs: Costs): Decision {
    const table = this.#keys;
    table.start();
    const decision = check(table, rules, toStoredKeys(keys), costs, table);
    if (table.hasUnqueued) table.end();
    return decision;
  }

  /** Drops all keys and stops the timer. The store can be used again. */
  close(): void {
    this.#keys.clear();
  }

  /** Iterates over all keys and their cells, for `keysOf` of `@rollgate/core/observe`. */
  cells(): Iterator<readonly [key: string, cell: Cell]> & Iterable<readonly [key: string, cell: Cell]> {
    return this.#keys.cells();
  }

  /** Like `peek` with cost 1, for a key as the store has it: of a long one, its hash. It is for `keysOf`, too. */
  peekStored(rules: readonly Rule[], key: string): Decision {
    return this.#keys.run([], 'none', (states) => peek(states, rules, key, 1));
  }

  /**
   * Returns a copy of all entries for debugging: namespace, key, algorithm and state. A key of more than 200 UTF-16
   * code units appears as `%#` and its SHA-256.
   */
  toJSON(): {
    /** The prefix, the limit's name and its algorithm. */
    namespace: string;
    /** The key, or its hash. */
    key: string;
    /** The algorithm that wrote the state, such as `rolling-window`. */
    algorithm: string;
    /** The state in a readable form, which differs by algorithm. */
    state: unknown;
  }[] {
    return Array.from(this.cells(), ([key, cell]) => {
      const { name, lifecycle } = cell.namespace;
      return { namespace: name, key, algorithm: lifecycle.algorithm, state: lifecycle.describe(cell) };
    });
  }
}
