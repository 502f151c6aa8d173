import { type Clock, readMicros } from './clock.js';
import { copyString } from './copy-string.js';
import type { StateLifecycle } from './limits/limit.js';
import { Entry, Namespace, Namespaces } from './namespaces.js';

/** More than one per new key, so that expired keys are dropped faster than new ones are added. */
const SWEEPS_PER_NEW_KEY = 2;

/** Entries per run of the idle sweep. The run is so short that a request behind it does not notice. */
const SWEEPS_PER_RUN = 5_000;
const IDLE_SWEEP_MS = 1_000;
const BACKLOG_SWEEP_MS = 5;

/**
 * An expired key stays for another window, at most for a minute. A clock that steps back by less then finds the same
 * state.
 */
const MAX_GRACE_MICROS = 60_000_000;

/** Identifies the states of one limit or counter. */
export interface StateLocation {
  readonly namespace: string;
  readonly limit: StateLifecycle;
}

/**
 * The keys of a store and their states, at most `maxKeys`. Each new key drops a few expired ones, and one timer drops
 * the rest. The timer does not keep the process alive and stops when the table is empty.
 */
export class KeyTable {
  readonly #clock: Clock;
  readonly #maxKeys: number;
  readonly #namespaces = new Namespaces();
  #timer: NodeJS.Timeout | undefined;
  #hasWarned = false;

  constructor(clock: Clock, maxKeys: number) {
    this.#clock = clock;
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#namespaces.size;
  }

  /** Returns the key's entry, unless it has expired. Drops an implausible one. */
  find({ namespace, limit }: StateLocation, key: string, nowMicros: number): Entry | undefined {
    const entry = this.#namespaces.get(namespace)?.entries.get(key);
    if (entry === undefined || entry.limit.expiresMicros(entry.state) <= nowMicros) return undefined;
    if (limit.isPlausible(entry.state, nowMicros)) return entry;
    this.#namespaces.remove(entry); // Otherwise the state of a broken clock would count again once time gets there.
    return undefined;
  }

  /**
   * Creates an entry for the key. It replaces an expired one at once. Without one, {@link markRecorded} adds it to the
   * table.
   */
  create({ namespace: name, limit }: StateLocation, key: string, nowMicros: number): Entry {
    const stale = this.#namespaces.get(name)?.entries.get(key);
    if (stale !== undefined) return this.#replace(stale, limit);
    this.#sweep(nowMicros, SWEEPS_PER_NEW_KEY);
    const namespace = this.#namespaces.get(name) ?? new Namespace(name, this.#namespaces);
    while (this.#namespaces.size >= this.#maxKeys)
      this.#evict(this.#namespaces.findEvictionSource(namespace, this.#maxKeys));
    return new Entry(namespace, copyString(key), limit, limit.create());
  }

  /** Adds an entry again that this check found and that was evicted since. */
  restore(entry: Entry): void {
    if (entry.isRemoved) this.markRecorded(entry, entry.limit);
  }

  /** Call it when `limit` has recorded in the entry. Adds the entry if it is new or was evicted since. */
  markRecorded(entry: Entry, limit: StateLifecycle): void {
    if (entry.limit === limit && !entry.isRemoved) return; // The expiry is only later, which the queue finds out itself.
    entry.limit = limit;
    if (entry.isRemoved) {
      this.#namespaces.add(entry, limit.expiresMicros(entry.state));
      this.#startTimer(IDLE_SWEEP_MS);
    } else {
      this.#namespaces.move(entry, limit.expiresMicros(entry.state));
    }
  }

  /** Whether the entry is or was in this table. */
  has(entry: Entry): boolean {
    return this.#namespaces.has(entry);
  }

  /** Call it after a refund from an entry of this table. */
  markRefunded(entry: Entry): void {
    const expiresMicros = entry.limit.expiresMicros(entry.state);
    if (expiresMicros === -Infinity) this.#namespaces.remove(entry);
    else this.#namespaces.move(entry, expiresMicros);
  }

  remove({ namespace }: StateLocation, key: string): void {
    const entry = this.#namespaces.get(namespace)?.entries.get(key);
    if (entry !== undefined) this.#namespaces.remove(entry);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#namespaces.clear();
  }

  /** Returns a copy for debugging and tests. */
  toJSON(): { namespace: string; key: string; algorithm: string; state: unknown }[] {
    return [...this.#namespaces].flatMap(({ name, entries }) =>
      [...entries.values()].map(({ key, limit, state }) => ({
        namespace: name,
        key,
        algorithm: limit.algorithm,
        state: JSON.parse(JSON.stringify(state)),
      })),
    );
  }

  /** Replacing an expired entry is much cheaper than removing it and adding a new one. */
  #replace(stale: Entry, limit: StateLifecycle): Entry {
    const entry = new Entry(stale.namespace, stale.key, limit, limit.create());
    this.#namespaces.replace(stale, entry); // A new record expires later than the expired one.
    return entry;
  }

  /** Removes expired entries in at most `steps` steps. Returns whether any may be left. */
  #sweep(nowMicros: number, steps: number): boolean {
    for (let step = 0; step < steps; step++) {
      const entry = this.#namespaces.first;
      if (entry === undefined || entry.priority > nowMicros) return false;
      if (this.#defer(entry)) continue;
      const graceMicros = Math.min(entry.limit.keepMicros, MAX_GRACE_MICROS);
      if (entry.priority + graceMicros > nowMicros) return false;
      this.#namespaces.remove(entry);
    }
    return true;
  }

  /** Queues the entry for its true expiry if that is later. Returns whether it was. */
  #defer(entry: Entry): boolean {
    const expiresMicros = entry.limit.expiresMicros(entry.state);
    if (expiresMicros <= entry.priority) return false;
    this.#namespaces.move(entry, expiresMicros);
    return true;
  }

  /** Removes the key of this namespace that expires first. */
  #evict({ queue }: Namespace): void {
    let entry = queue.first as Entry;
    while (this.#defer(entry)) entry = queue.first as Entry;
    this.#namespaces.remove(entry);
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    process.emitWarning(
      `A MemoryStore is full: it holds ${this.#maxKeys} keys (\`maxKeys\`). Each new key now evicts the one nearest to its expiry, of the same limit or of a limit with more than its share of the keys. An evicted key starts with its full quota`,
      { type: 'RollgateWarning', code: 'ROLLGATE_KEYS_EVICTED' },
    );
  }

  #sweepIdle(): void {
    this.#timer = undefined;
    let isBehind = false;
    try {
      isBehind = this.#sweep(readMicros(this.#clock), SWEEPS_PER_RUN);
    } catch {
      // An invalid clock throws at the next check. Thrown from a timer, its error would end the process.
    }
    if (this.#namespaces.size > 0) this.#startTimer(isBehind ? BACKLOG_SWEEP_MS : IDLE_SWEEP_MS);
  }

  #startTimer(delayMs: number): void {
    this.#timer ??= setTimeout(() => this.#sweepIdle(), delayMs).unref();
  }
}
