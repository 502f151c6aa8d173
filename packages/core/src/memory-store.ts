import { type Clock, monotonicClock, readMicros } from './clock.js';
import { type Decision, decisionOfOne, type LimitDecision, toDecision } from './decision.js';
import { type Entry, KeyTable } from './key-table.js';
import type { Limit, Verdict } from './limits/limit.js';
import { type Keys, keyAt, type Plan, type Rule, type Store } from './store.js';
import { hasMethods, knownOptions, misuse, positiveInteger } from './validate.js';

/** What {@link MemoryStore} takes. */
export interface MemoryStoreOptions {
  /** The time; default {@link monotonicClock}. */
  clock?: Clock | undefined;
  /**
   * How many keys the store holds at most, those of every limit counted; default 1,000,000. When it is full, a new key
   * takes the place of the one nearest to its expiry, and the process is told once by the warning
   * `ROLLGATE_KEYS_EVICTED`. (The keys of one check are kept together, also when they are more.)
   */
  maxKeys?: number | undefined;
}

const DEFAULT_MAX_KEYS = 1_000_000;

/** What a check recorded for one rule. The chain of them is the check's receipt. */
class RecordedHit {
  constructor(
    readonly entry: Entry,
    readonly atMicros: number,
    readonly cost: number,
    readonly next: RecordedHit | undefined,
  ) {}
}

/**
 * Keeps the state in this process's memory and answers at once. Time and memory for a check do not depend on how many
 * keys there are. Expired keys go as new ones come, and the rest in the background, by one timer that keeps no process
 * alive and stops when the store is empty.
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
export class MemoryStore implements Store {
  readonly #clock: Clock;
  readonly #keys: KeyTable;

  constructor(options: MemoryStoreOptions = {}) {
    knownOptions('MemoryStore', options, ['clock', 'maxKeys']);
    const { clock = monotonicClock, maxKeys = DEFAULT_MAX_KEYS } = options;
    if (!hasMethods(clock, ['now'])) throw misuse('clock', 'an object with a method `now`', clock);
    this.#clock = clock;
    this.#keys = new KeyTable(clock, positiveInteger('maxKeys', maxKeys));
  }

  /** How many keys the store holds, those of every limit counted, expired ones that are still to go included. */
  get size(): number {
    return this.#keys.size;
  }

  /** As {@link Store.check}, at once. */
  check(plan: Plan, keys: Keys, cost: number): Decision {
    const nowMicros = readMicros(this.#clock);
    const { rules } = plan;
    return rules.length === 1
      ? this.#checkOne(rules[0]!, keyAt(keys, 0), nowMicros, cost)
      : this.#checkAll(rules, keys, nowMicros, cost);
  }

  /** As {@link Store.peek}, at once. */
  peek(plan: Plan, keys: Keys, cost: number): Decision {
    const nowMicros = readMicros(this.#clock);
    const said = plan.rules.map((rule, index) => {
      const { limit } = rule;
      const entry = this.#keys.find(rule, keyAt(keys, index), nowMicros);
      const verdict = testEntry(limit, entry, nowMicros, cost);
      return toLimitDecision(limit, verdict.waitMicros === 0, verdict, verdict.waitMicros);
    });
    return toDecision(plan.rules, said, undefined);
  }

  /** As {@link Store.refund}, at once. */
  refund(receipt: unknown): void {
    if (!(receipt instanceof RecordedHit)) throw foreignDecision();
    for (let hit: RecordedHit | undefined = receipt; hit !== undefined; hit = hit.next) {
      if (!this.#keys.has(hit.entry)) throw foreignDecision();
      this.#keys.refund(hit.entry, hit.atMicros, hit.cost);
    }
  }

  /** As {@link Store.reset}, at once. */
  reset(plan: Plan, keys: Keys): void {
    plan.rules.forEach((rule, index) => {
      this.#keys.forget(rule, keyAt(keys, index));
    });
  }

  /** Forgets every key and stops the timer. The store can be used again. */
  close(): void {
    this.#keys.clear();
  }

  /** A copy of all that is held, for people and for tests: space, key, algorithm, state. */
  toJSON(): ReturnType<KeyTable['toJSON']> {
    return this.#keys.toJSON();
  }

  /** As {@link #checkAll} for one rule, the usual plan: without its lists, which are measurably slower. */
  #checkOne(rule: Rule, key: string, nowMicros: number, cost: number): Decision {
    const { name, limit } = rule;
    const found = this.#keys.find(rule, key, nowMicros);
    const verdict = testEntry(limit, found, nowMicros, cost);
    const { waitMicros, atMicros } = verdict;
    const allowed = waitMicros === 0;
    if (!allowed && !limit.countRejected) {
      return decisionOfOne(name, toLimitDecision(limit, false, verdict, waitMicros), undefined);
    }
    const entry = found ?? this.#keys.create(rule, key, nowMicros);
    const after = this.#record(entry, limit, nowMicros, cost, verdict);
    const said = toLimitDecision(limit, allowed, after, allowed ? 0 : after.waitMicros);
    const receipt = new RecordedHit(entry, atMicros, cost, undefined);
    return decisionOfOne(name, said, receipt);
  }

  #checkAll(rules: readonly Rule[], keys: Keys, nowMicros: number, cost: number): Decision {
    const entries = rules.map((rule, index) => this.#keys.find(rule, keyAt(keys, index), nowMicros));
    const verdicts = rules.map(({ limit }, index) => testEntry(limit, entries[index], nowMicros, cost));
    const allowed = verdicts.every(({ waitMicros }) => waitMicros === 0);
    let receipt: RecordedHit | undefined;
    const said = rules.map((rule, index) => {
      const { limit } = rule;
      const verdict = verdicts[index]!;
      const passed = verdict.waitMicros === 0;
      if (!allowed && !limit.countRejected) return toLimitDecision(limit, passed, verdict, verdict.waitMicros);
      const entry = entries[index] ?? this.#keys.create(rule, keyAt(keys, index), nowMicros);
      const after = this.#record(entry, limit, nowMicros, cost, verdict);
      receipt = new RecordedHit(entry, verdict.atMicros, cost, receipt);
      return toLimitDecision(limit, passed, after, allowed ? 0 : after.waitMicros);
    });
    return toDecision(rules, said, receipt);
  }

  #record(entry: Entry, limit: Limit, nowMicros: number, cost: number, verdict: Verdict): Verdict {
    const after = limit.record(entry.state, nowMicros, cost, verdict);
    this.#keys.touch(entry, limit);
    return after;
  }
}

function foreignDecision(): TypeError {
  return new TypeError('Expected `decision` to be a decision of this store, got one of another');
}

function testEntry(limit: Limit, entry: Entry | undefined, nowMicros: number, cost: number): Verdict {
  const state = entry === undefined ? limit.create() : entry.state;
  const verdict = limit.test(state, nowMicros, cost);
  return entry === undefined || entry.limit === limit
    ? verdict
    : untilForgotten(entry, limit, verdict, nowMicros, cost);
}

/**
 * The verdict of another limit than recorded last. The one that recorded remembers no longer than it needs to: nothing
 * is in the way when it has forgotten.
 */
function untilForgotten(entry: Entry, limit: Limit, verdict: Verdict, nowMicros: number, cost: number): Verdict {
  const leftMicros = entry.limit.expiresMicros(entry.state) - nowMicros;
  const waitMicros = cost > limit.limit ? Infinity : Math.min(verdict.waitMicros, leftMicros);
  return { ...verdict, waitMicros, resetMicros: Math.min(verdict.resetMicros, leftMicros) };
}

/** The verdict in the words of a decision; `waitMicros` stands in for the verdict's own. */
function toLimitDecision(limit: Limit, allowed: boolean, verdict: Verdict, waitMicros: number): LimitDecision {
  return {
    allowed,
    limit: limit.limit,
    remaining: verdict.remaining,
    retryAfterMs: waitMicros / 1000,
    resetMs: verdict.resetMicros / 1000,
    delayMs: verdict.delayMicros / 1000,
  };
}
