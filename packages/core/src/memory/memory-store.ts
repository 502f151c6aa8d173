import type { Decision } from '../decision/decision.js';
import { evaluate, toResult } from '../decision/evaluate.js';
import { foreignDecision } from '../decision/foreign-decision-error.js';
import { SingleDecision } from '../decision/single-decision.js';
import { createVerdict } from '../limits/limit.js';
import type { CounterAlgorithm } from '../limits/rolling-counter-algorithm.js';
import { type Costs, type Keys, keyAt, type Plan, type Rule, type SettledCosts } from '../plan/plan.js';
import type { CountingStore, Store } from '../store/store.js';
import { isStoredAsIs, toStoredKey, toStoredKeys } from '../store/stored-key.js';
import { type Clock, monotonicClock, readMicros } from '../time/clock.js';
import { hasMethods, invalidOption, validateOptionNames, validatePositiveInteger } from '../validation/validate.js';
import type { Entry } from './entry.js';
import { KeyTable } from './key-table.js';
import { MemoryOperations } from './memory-operations.js';
import { checkPlainWindow } from './plain-window-check.js';
import { PlainWindowRules } from './plain-window-rules.js';
import { RecordedHit } from './recorded-hit.js';

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
export class MemoryStore implements Store, CountingStore {
  /** The clock by which the store decides. */
  readonly clock: Clock;
  readonly #keys: KeyTable;
  readonly #operations: MemoryOperations;
  readonly #plainWindows: PlainWindowRules;
  /** Reused for all plans of one rule, which saves two objects per check. */
  readonly #entry: Entry;
  readonly #verdict = createVerdict();

  constructor(options: MemoryStoreOptions = {}) {
    validateOptionNames('MemoryStore', options, ['clock', 'maxKeys']);
    const { clock = monotonicClock, maxKeys = DEFAULT_MAX_KEYS } = options;
    if (!hasMethods(clock, ['now'])) throw invalidOption('clock', 'an object with a method `now`', clock);
    this.clock = clock;
    this.#keys = new KeyTable(clock, validatePositiveInteger('maxKeys', maxKeys));
    this.#operations = new MemoryOperations(this.#keys);
    this.#plainWindows = new PlainWindowRules(this.#keys);
    this.#entry = this.#keys.createEntry();
  }

  /** Identifies a `MemoryStore` of any installed version of this package. */
  get [MEMORY_STORE](): true {
    return true;
  }

  /** The number of keys of all limits, including expired ones that the store has not dropped yet. */
  get size(): number {
    return this.#keys.size;
  }

  /** Like {@link Store.check}, but synchronous. */
  check(plan: Plan, keys: Keys, costs: Costs): Decision {
    const nowMicros = readMicros(this.clock);
    if (costs === 1 && typeof keys === 'string' && isStoredAsIs(keys)) {
      const rule = this.#plainWindows.of(plan);
      const decision = rule === undefined ? undefined : checkPlainWindow(rule, keys, nowMicros);
      if (decision !== undefined) return decision;
    }
    return this.#checkAny(plan.rules, toStoredKeys(keys), nowMicros, costs);
  }

  /** Like {@link Store.peek}, but synchronous. */
  peek({ rules }: Plan, keys: Keys, costs: Costs): Decision {
    return this.#operations.peek(rules, toStoredKeys(keys), readMicros(this.clock), costs);
  }

  /** Like {@link Store.settle}, but synchronous. */
  settle(receipt: unknown, costs: SettledCosts): void {
    this.#operations.settle(this.#hitOf(receipt), costs, readMicros(this.clock));
  }

  /** Like {@link Store.charge}, but synchronous. */
  charge({ rules }: Plan, keys: Keys, costs: Costs): Decision {
    return this.#operations.charge(rules, toStoredKeys(keys), readMicros(this.clock), costs);
  }

  /** Like {@link Store.release}, but synchronous. */
  release(receipt: unknown): void {
    this.#operations.release(this.#hitOf(receipt), readMicros(this.clock));
  }

  /** Like {@link Store.refund}, but synchronous. */
  refund(receipt: unknown): void {
    this.settle(receipt, 0);
  }

  /** Like {@link Store.reset}, but synchronous. */
  reset(plan: Plan, keys: Keys): void {
    const stored = toStoredKeys(keys);
    plan.rules.forEach((rule, index) => {
      this.#keys.remove(rule, keyAt(stored, index));
    });
  }

  /** Implements {@link Store.namesOf}. */
  namesOf({ rules }: Plan, keys: Keys): string[] {
    const stored = toStoredKeys(keys);
    return rules.map(({ namespace }, index) => nameOf(namespace, keyAt(stored, index)));
  }

  /** Implements {@link Store.namesOfReceipt}. */
  namesOfReceipt(receipt: unknown): string[] {
    const names: string[] = [];
    for (let hit: RecordedHit | undefined = this.#hitOf(receipt); hit !== undefined; hit = hit.next) {
      names.push(nameOf(hit.rule.namespace, hit.key));
    }
    return names;
  }

  /** Like {@link CountingStore.addCount}, but synchronous. */
  addCount(counter: CounterAlgorithm, subject: string, units: number, intervalMicros: number): number {
    const nowMicros = readMicros(this.clock);
    const location = { namespace: counter.namespace, limit: counter };
    const key = toStoredKey(subject);
    const found = this.#keys.find(location, key, nowMicros, this.#entry);
    if (units === 0) return found === undefined ? 0 : counter.count(found, nowMicros, intervalMicros);
    const entry = found ?? this.#keys.create(location, key, nowMicros, this.#entry);
    counter.add(entry, nowMicros, units);
    this.#keys.markRecorded(entry, counter);
    return counter.count(entry, nowMicros, intervalMicros);
  }

  /** Drops all keys and stops the timer. The store can be used again. */
  close(): void {
    this.#keys.clear();
  }

  /**
   * Returns a copy of all entries for debugging: namespace, key, algorithm and state. A key of more than 200 UTF-16
   * code units appears as `%#` and its SHA-256.
   */
  toJSON(): ReturnType<KeyTable['toJSON']> {
    return this.#keys.toJSON();
  }

  /** @throws TypeError if the receipt is that of another store. */
  #hitOf(receipt: unknown): RecordedHit {
    if (receipt instanceof RecordedHit && receipt.table === this.#keys) return receipt;
    throw foreignDecision();
  }

  /** A separate method, so that V8 can inline `check`. */
  #checkAny(rules: readonly Rule[], keys: Keys, nowMicros: number, costs: Costs): Decision {
    return rules.length === 1 && typeof costs === 'number' && costs > 0
      ? this.#checkOne(rules[0]!, keyAt(keys, 0), nowMicros, costs)
      : this.#operations.check(rules, keys, nowMicros, costs);
  }

  /** Like `MemoryOperations.check`, for a plan of one rule. It is measurably faster without arrays. */
  #checkOne(rule: Rule, key: string, nowMicros: number, cost: number): Decision {
    const { name, limit } = rule;
    const verdict = this.#verdict;
    const found = this.#keys.find(rule, key, nowMicros, this.#entry);
    evaluate(limit, found, nowMicros, cost, verdict);
    const allowed = verdict.waitMicros === 0;
    if (!allowed && !limit.countRejected) {
      return new SingleDecision(name, toResult(limit, false, verdict, false), undefined);
    }
    const { atMicros } = verdict;
    const entry = found ?? this.#keys.create(rule, key, nowMicros, this.#entry);
    limit.record(entry, nowMicros, cost, verdict);
    this.#keys.markRecorded(entry, limit);
    const receipt = new RecordedHit(this.#keys, rule, entry.key, entry.life, atMicros, nowMicros, cost, undefined);
    return new SingleDecision(name, toResult(limit, allowed, verdict, allowed), receipt);
  }
}

function nameOf(namespace: string, key: string): string {
  return `${namespace}\n${key}`;
}
