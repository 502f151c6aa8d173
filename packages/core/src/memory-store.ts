import { type Clock, monotonicClock, readMicros } from './clock.js';
import type { CounterAlgorithm, CounterState } from './counter-algorithm.js';
import { type Decision, decisionOfOne, toDecision } from './decision.js';
import { withCode } from './error-codes.js';
import { evaluateEntry, toLimitDecision } from './evaluate-entry.js';
import { KeyTable } from './key-table.js';
import type { Hit, Limit, Verdict } from './limits/limit.js';
import type { Entry } from './namespaces.js';
import { type Keys, keyAt, type Plan, type Rule } from './plan.js';
import type { CountingStore, Store } from './store.js';
import { toStoredKey, toStoredKeys } from './stored-key.js';
import { hasMethods, invalidOption, knownOptions, positiveInteger } from './validate.js';

/** What {@link MemoryStore} takes. */
export interface MemoryStoreOptions {
  /** The time; default {@link monotonicClock}. */
  clock?: Clock | undefined;
  /**
   * How many keys the store holds at most, those of every limit counted; default 1,000,000. When it is full, a new key evicts
   * the key of the same limit that is nearest to its expiry. A limit with less than its share, `maxKeys` divided by the number
   * of limits that have keys, evicts a key of the limit that has the most keys at that time instead. So a flood of keys of one limit
   * evicts none of another limit that has no more than its share. The warning `ROLLGATE_KEYS_EVICTED` is given once. A check
   * evicts none of its own keys, even when they are more than `maxKeys`.
   */
  maxKeys?: number | undefined;
}

const DEFAULT_MAX_KEYS = 1_000_000;

/** Registered, so that a `MemoryStore` of another copy of this package is one as well. */
const MEMORY_STORE = Symbol.for('@rollgate/core MemoryStore');

/** Whether the store is a {@link MemoryStore}, of any copy of this package: one that answers at once and never fails. */
export function isMemoryStore(store: unknown): store is MemoryStore {
  return typeof store === 'object' && store !== null && MEMORY_STORE in store;
}

/** What a check recorded for one rule. The chain of them is the check's receipt. */
class RecordedHit implements Hit {
  constructor(
    readonly entry: Entry,
    readonly limit: Limit,
    readonly atMicros: number,
    readonly recordedMicros: number,
    readonly cost: number,
    readonly next: RecordedHit | undefined,
  ) {}
}

/**
 * Keeps the state in this process's memory and answers at once. The time of a check grows at most with the logarithm of the
 * number of keys. The memory of a key does not depend on its length: a key of more than 200 UTF-16 code units is kept by its
 * hash. Expired keys go as new ones come, and the rest in the background. One timer does that, which keeps no process alive and
 * stops when the store is empty.
 *
 * @throws TypeError, RangeError naming the option that is wrong.
 * @example
 * ```ts
 * import { MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
 *
 * let now = 0;
 * const store = new MemoryStore({ clock: { now: () => now }, maxKeys: 50_000 });
 * const limiter = new RateLimiter({ limits: rollingWindow({ limit: 1, window: '1m' }), store });
 * (await limiter.check('ann')).allowed; // => true
 * now = 59_999;
 * (await limiter.check('ann')).retryAfterMs; // => 1
 * now = 60_000;
 * (await limiter.check('ann')).allowed; // => true
 * ```
 */
export class MemoryStore implements Store, CountingStore {
  readonly #clock: Clock;
  readonly #keys: KeyTable;

  constructor(options: MemoryStoreOptions = {}) {
    knownOptions('MemoryStore', options, ['clock', 'maxKeys']);
    const { clock = monotonicClock, maxKeys = DEFAULT_MAX_KEYS } = options;
    if (!hasMethods(clock, ['now'])) throw invalidOption('clock', 'an object with a method `now`', clock);
    this.#clock = clock;
    this.#keys = new KeyTable(clock, positiveInteger('maxKeys', maxKeys));
  }

  get [MEMORY_STORE](): true {
    return true;
  }

  /** How many keys the store holds, those of every limit counted, expired ones that are still to go included. */
  get size(): number {
    return this.#keys.size;
  }

  /** As {@link Store.check}, at once. */
  check(plan: Plan, keys: Keys, cost: number): Decision {
    const nowMicros = readMicros(this.#clock);
    const { rules } = plan;
    const stored = toStoredKeys(keys);
    return rules.length === 1
      ? this.#checkOne(rules[0]!, keyAt(stored, 0), nowMicros, cost)
      : this.#checkAll(rules, stored, nowMicros, cost);
  }

  /** As {@link Store.peek}, at once. */
  peek(plan: Plan, keys: Keys, cost: number): Decision {
    const nowMicros = readMicros(this.#clock);
    const stored = toStoredKeys(keys);
    const verdicts = plan.rules.map((rule, index) => {
      const entry = this.#keys.find(rule, keyAt(stored, index), nowMicros);
      return evaluateEntry(rule.limit, entry, nowMicros, cost);
    });
    const allowed = verdicts.every(({ waitMicros }) => waitMicros === 0);
    const said = plan.rules.map(({ limit }, index) => {
      const verdict = verdicts[index]!;
      const { waitMicros, delayMicros } = verdict;
      return toLimitDecision(limit, waitMicros === 0, verdict, waitMicros, allowed ? delayMicros : 0);
    });
    return toDecision(plan.rules, said, undefined);
  }

  /** As {@link Store.refund}, at once. */
  refund(receipt: unknown): void {
    if (!(receipt instanceof RecordedHit)) throw foreignDecision();
    const nowMicros = readMicros(this.#clock);
    for (let hit: RecordedHit | undefined = receipt; hit !== undefined; hit = hit.next) {
      const { entry, limit } = hit;
      if (!this.#keys.has(entry)) throw foreignDecision();
      if (entry.isRemoved) continue;
      limit.refund(entry.state, nowMicros, hit);
      this.#keys.markRefunded(entry);
    }
  }

  /** As {@link Store.reset}, at once. */
  reset(plan: Plan, keys: Keys): void {
    const stored = toStoredKeys(keys);
    plan.rules.forEach((rule, index) => {
      this.#keys.remove(rule, keyAt(stored, index));
    });
  }

  /** As {@link CountingStore.addCount}, at once. */
  addCount(counter: CounterAlgorithm, subject: string, units: number, intervalMicros: number): number {
    const nowMicros = readMicros(this.#clock);
    const place = { namespace: counter.namespace, limit: counter };
    const key = toStoredKey(subject);
    const found = this.#keys.find(place, key, nowMicros);
    if (units === 0)
      return found === undefined ? 0 : counter.count(found.state as CounterState, nowMicros, intervalMicros);
    const entry = found ?? this.#keys.create(place, key, nowMicros);
    counter.add(entry.state as CounterState, nowMicros, units);
    this.#keys.markRecorded(entry, counter);
    return counter.count(entry.state as CounterState, nowMicros, intervalMicros);
  }

  /** Forgets every key and stops the timer. The store can be used again. */
  close(): void {
    this.#keys.clear();
  }

  /**
   * A copy of all that is held, for people and for tests: namespace, key, algorithm, state. A key of more than 200 UTF-16 code units is
   * held, and shown, as `%#` and its SHA-256.
   */
  toJSON(): ReturnType<KeyTable['toJSON']> {
    return this.#keys.toJSON();
  }

  /** As {@link #checkAll} for one rule, the usual plan: without its lists, which are measurably slower. */
  #checkOne(rule: Rule, key: string, nowMicros: number, cost: number): Decision {
    const { name, limit } = rule;
    const found = this.#keys.find(rule, key, nowMicros);
    const verdict = evaluateEntry(limit, found, nowMicros, cost);
    const { waitMicros, atMicros } = verdict;
    const allowed = waitMicros === 0;
    if (!allowed && !limit.countRejected) {
      return decisionOfOne(name, toLimitDecision(limit, false, verdict, waitMicros, 0), undefined);
    }
    const entry = found ?? this.#keys.create(rule, key, nowMicros);
    const after = this.#record(entry, limit, nowMicros, cost, verdict);
    const said = toLimitDecision(
      limit,
      allowed,
      after,
      allowed ? 0 : after.waitMicros,
      allowed ? after.delayMicros : 0,
    );
    const receipt = new RecordedHit(entry, limit, atMicros, nowMicros, cost, undefined);
    return decisionOfOne(name, said, receipt);
  }

  #checkAll(rules: readonly Rule[], keys: Keys, nowMicros: number, cost: number): Decision {
    const entries = rules.map((rule, index) => this.#keys.find(rule, keyAt(keys, index), nowMicros));
    const verdicts = rules.map(({ limit }, index) => evaluateEntry(limit, entries[index], nowMicros, cost));
    const allowed = verdicts.every(({ waitMicros }) => waitMicros === 0);
    const records = (limit: Limit) => allowed || limit.countRejected;
    // All entries are there before any is touched, so that none of them makes room for another one of this check.
    rules.forEach((rule, index) => {
      if (records(rule.limit)) entries[index] ??= this.#keys.create(rule, keyAt(keys, index), nowMicros);
    });
    let receipt: RecordedHit | undefined;
    const said = rules.map(({ limit }, index) => {
      const verdict = verdicts[index]!;
      const entry = entries[index];
      const passed = verdict.waitMicros === 0;
      if (!records(limit) || entry === undefined) {
        if (entry !== undefined) this.#keys.restore(entry);
        return toLimitDecision(limit, passed, verdict, verdict.waitMicros, 0);
      }
      const after = this.#record(entry, limit, nowMicros, cost, verdict);
      receipt = new RecordedHit(entry, limit, verdict.atMicros, nowMicros, cost, receipt);
      return allowed
        ? toLimitDecision(limit, true, after, 0, after.delayMicros)
        : toLimitDecision(limit, passed, after, after.waitMicros, 0);
    });
    return toDecision(rules, said, receipt);
  }

  #record(entry: Entry, limit: Limit, nowMicros: number, cost: number, verdict: Verdict): Verdict {
    const after = limit.record(entry.state, nowMicros, cost, verdict);
    this.#keys.markRecorded(entry, limit);
    return after;
  }
}

function foreignDecision(): TypeError {
  const message = 'Expected `decision` to be a decision of this store, got one of another';
  return withCode('ERR_ROLLGATE_FOREIGN_DECISION', new TypeError(message));
}
