import { type Clock, monotonicClock, readMicros } from './clock.js';
import { type Decision, type LimitDecision, toDecision } from './decision.js';
import { type Expiring, ExpiryQueue } from './expiry-queue.js';
import type { Limit, Verdict } from './limits/limit.js';
import { type Keys, keyAt, type Plan, type Rule, type Store } from './store.js';
import { hasMethods, knownOptions, misuse, positiveInteger } from './validate.js';

export interface MemoryStoreOptions {
  /** The time; default {@link monotonicClock}. */
  clock?: Clock | undefined;
  /**
   * How many keys the store holds at most, those of every limit counted; default 1,000,000. When it is full, a new key
   * takes the place of the one nearest to its expiry, and the process is told once by the warning
   * `ROLLGATE_KEYS_EVICTED`.
   */
  maxKeys?: number | undefined;
}

const DEFAULT_MAX_KEYS = 1_000_000;

/** More than one for each new key, so that expired keys go faster than new ones come. */
const SWEEPS_PER_NEW_KEY = 2;

/** One turn of the idle sweep: short enough not to be felt by a request that waits behind it. */
const SWEEPS_PER_TURN = 5_000;

/**
 * An expired key stays for as long again as its hits mattered, up to a minute: a clock that is set back by less finds
 * what it would have found.
 */
const LONGEST_GRACE_MICROS = 60_000_000;

const IDLE_SWEEP_MS = 1_000;
const BACKLOG_SWEEP_MS = 5;

/** One key of one rule. */
class Entry implements Expiring {
  queuedMicros = 0;
  queueIndex = -1;
  constructor(
    readonly space: Map<string, Entry>,
    readonly key: string,
    /** The limit that recorded last: the one that can read the state. */
    public limit: Limit,
    readonly state: unknown,
  ) {}
}

/** What a check recorded for one rule. The chain of them is the check's receipt. */
interface RecordedHit {
  readonly entry: Entry;
  readonly atMicros: number;
  readonly cost: number;
  readonly next: RecordedHit | undefined;
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
  readonly #maxKeys: number;
  readonly #spaces = new Map<string, Map<string, Entry>>();
  readonly #queue = new ExpiryQueue<Entry>();
  #timer: NodeJS.Timeout | undefined;
  #hasWarned = false;

  constructor(options: MemoryStoreOptions = {}) {
    knownOptions('MemoryStore', options, ['clock', 'maxKeys']);
    const { clock = monotonicClock, maxKeys = DEFAULT_MAX_KEYS } = options;
    if (!hasMethods(clock, ['now'])) throw misuse('clock', 'an object with a method `now`', clock);
    this.#clock = clock;
    this.#maxKeys = positiveInteger('maxKeys', maxKeys);
  }

  /** How many keys the store holds, those of every limit counted, expired ones that are still to go included. */
  get size(): number {
    return this.#queue.size;
  }

  /** As {@link Store.check}, at once. */
  check(plan: Plan, keys: Keys, cost: number): Decision {
    const nowMicros = readMicros(this.#clock);
    const { rules } = plan;
    const entries: (Entry | undefined)[] = [];
    const verdicts: Verdict[] = [];
    const said: LimitDecision[] = [];
    let allowed = true;
    for (let index = 0; index < rules.length; index++) {
      const rule = rules[index]!;
      const { limit } = rule;
      const entry = this.#find(rule, keyAt(keys, index), nowMicros);
      const verdict = testEntry(limit, entry, nowMicros, cost);
      entries.push(entry);
      verdicts.push(verdict);
      if (verdict.waitMicros > 0) allowed = false;
    }
    let receipt: RecordedHit | undefined;
    for (let index = 0; index < rules.length; index++) {
      const rule = rules[index]!;
      const { limit } = rule;
      const verdict = verdicts[index]!;
      const passed = verdict.waitMicros === 0;
      if (!allowed && !limit.countRejected) {
        said.push(toLimitDecision(limit, passed, verdict, verdict.waitMicros));
        continue;
      }
      const entry = entries[index] ?? this.#add(rule, keyAt(keys, index), nowMicros);
      const after = limit.record(entry.state, nowMicros, cost, verdict);
      if (entry.limit !== limit || entry.queueIndex < 0) this.#enqueue(entry, limit);
      receipt = { entry, atMicros: verdict.atMicros, cost, next: receipt };
      said.push(toLimitDecision(limit, passed, after, allowed ? 0 : after.waitMicros));
    }
    return toDecision(rules, said, receipt);
  }

  /** As {@link Store.peek}, at once. */
  peek(plan: Plan, keys: Keys, cost: number): Decision {
    const nowMicros = readMicros(this.#clock);
    const said = plan.rules.map((rule, index) => {
      const { limit } = rule;
      const entry = this.#find(rule, keyAt(keys, index), nowMicros);
      const verdict = testEntry(limit, entry, nowMicros, cost);
      return toLimitDecision(limit, verdict.waitMicros === 0, verdict, verdict.waitMicros);
    });
    return toDecision(plan.rules, said, undefined);
  }

  /** As {@link Store.refund}, at once. */
  refund(receipt: unknown): void {
    for (let hit = receipt as RecordedHit | undefined; hit !== undefined; hit = hit.next) {
      const { entry, atMicros, cost } = hit;
      if (entry.queueIndex < 0) continue; // The key was forgotten since, and the hit with it.
      entry.limit.refund(entry.state, atMicros, cost);
      if (entry.limit.expiresMicros(entry.state) === -Infinity) this.#remove(entry);
      else this.#enqueue(entry, entry.limit);
    }
  }

  /** As {@link Store.reset}, at once. */
  reset(plan: Plan, keys: Keys): void {
    for (let index = 0; index < plan.rules.length; index++) {
      const entry = this.#spaces.get(plan.rules[index]!.space)?.get(keyAt(keys, index));
      if (entry !== undefined) this.#remove(entry);
    }
  }

  /** Forgets every key and stops the timer. The store can be used again. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#spaces.clear();
    this.#queue.clear();
  }

  /** A copy of all that is held, for people and for tests: space, key, state. */
  toJSON(): { space: string; key: string; algorithm: string; state: unknown }[] {
    return [...this.#spaces].flatMap(([space, entries]) =>
      [...entries.values()].map(({ key, limit, state }) => ({
        space,
        key,
        algorithm: limit.algorithm,
        state: JSON.parse(JSON.stringify(state)),
      })),
    );
  }

  /** The key's entry, unless it says nothing any more. */
  #find({ space, limit }: Rule, key: string, nowMicros: number): Entry | undefined {
    const entry = this.#spaces.get(space)?.get(key);
    if (entry === undefined || entry.limit.algorithm !== limit.algorithm) return undefined;
    if (entry.limit.isLive(entry.state, nowMicros)) return entry;
    // What a broken clock wrote must not come back to life when time gets there; what has expired cannot.
    if (entry.limit.expiresMicros(entry.state) > nowMicros) this.#remove(entry);
    return undefined;
  }

  /** A new entry for the key, in the place of one that says nothing any more. The caller queues it. */
  #add({ space, limit }: Rule, key: string, nowMicros: number): Entry {
    let entries = this.#spaces.get(space);
    if (entries === undefined) this.#spaces.set(space, (entries = new Map()));
    const stale = entries.get(key);
    if (stale !== undefined) this.#remove(stale);
    this.#sweep(nowMicros, SWEEPS_PER_NEW_KEY);
    while (this.#queue.size >= this.#maxKeys) this.#evict();
    const entry = new Entry(entries, key, limit, limit.create());
    entries.set(key, entry);
    return entry;
  }

  /** Notes by which limit the entry was recorded last, and when it expires. */
  #enqueue(entry: Entry, limit: Limit): void {
    entry.limit = limit;
    const micros = limit.expiresMicros(entry.state);
    if (entry.queueIndex >= 0) {
      this.#queue.move(entry, micros);
    } else {
      this.#queue.add(entry, micros);
      this.#startTimer(IDLE_SWEEP_MS);
    }
  }

  #remove(entry: Entry): void {
    entry.space.delete(entry.key);
    this.#queue.remove(entry);
  }

  /** Removes expired entries, looking at `steps` of them at most. Whether any may be left. */
  #sweep(nowMicros: number, steps: number): boolean {
    for (let step = 0; step < steps; step++) {
      const entry = this.#queue.first;
      if (entry === undefined || entry.queuedMicros > nowMicros) return false;
      if (this.#defer(entry)) continue;
      const graceMicros = Math.min(entry.limit.keepMicros, LONGEST_GRACE_MICROS);
      if (entry.queuedMicros + graceMicros > nowMicros) return false;
      this.#remove(entry);
    }
    return true;
  }

  /** Queues the entry for its true expiry, when that is later than what it was queued for. */
  #defer(entry: Entry): boolean {
    const expiresMicros = entry.limit.expiresMicros(entry.state);
    if (expiresMicros <= entry.queuedMicros) return false;
    this.#queue.move(entry, expiresMicros);
    return true;
  }

  /** Removes the key nearest to its expiry. */
  #evict(): void {
    let entry = this.#queue.first as Entry;
    while (this.#defer(entry)) entry = this.#queue.first as Entry;
    this.#remove(entry);
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    process.emitWarning(
      `A MemoryStore is full: it holds ${this.#maxKeys} keys (\`maxKeys\`), and each new key now takes the place of the one nearest to its expiry, whose hits are forgotten`,
      { type: 'RollgateWarning', code: 'ROLLGATE_KEYS_EVICTED' },
    );
  }

  #sweepIdle(): void {
    const isBehind = this.#sweep(readMicros(this.#clock), SWEEPS_PER_TURN);
    this.#timer = undefined;
    if (this.#queue.size > 0) this.#startTimer(isBehind ? BACKLOG_SWEEP_MS : IDLE_SWEEP_MS);
  }

  #startTimer(delayMs: number): void {
    this.#timer ??= setTimeout(() => this.#sweepIdle(), delayMs).unref();
  }
}

function testEntry(limit: Limit, entry: Entry | undefined, nowMicros: number, cost: number): Verdict {
  if (entry === undefined) return limit.test(limit.create(), nowMicros, cost);
  const verdict = limit.test(entry.state, nowMicros, cost);
  if (entry.limit === limit) return verdict;
  // The limit that recorded last remembers no longer than it needs to: nothing is in the way when it has forgotten.
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
