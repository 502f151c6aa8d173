import { type Clock, readMicros } from './clock.js';
import { copyString } from './copy-string.js';
import type { StateLifecycle } from './limits/limit.js';
import { Entry, Namespace, Namespaces } from './namespaces.js';

/** More than one for each new key, so that expired keys go faster than new ones come. */
const SWEEPS_PER_NEW_KEY = 2;

/** One turn of the idle sweep: short enough not to be felt by a request that waits behind it. */
const SWEEPS_PER_TURN = 5_000;
const IDLE_SWEEP_MS = 1_000;
const BACKLOG_SWEEP_MS = 5;

/**
 * An expired key stays for as long again as its hits mattered, up to a minute: a clock that is set back by less finds
 * what it would have found.
 */
const MAX_GRACE_MICROS = 60_000_000;

/** Where the states of a keeper are found. */
export interface StateLocation {
  readonly namespace: string;
  readonly limit: StateLifecycle;
}

/**
 * The keys of a store and the state of each: at most `maxKeys`, and those that have expired are given up, a few for
 * each key that is added and the rest by one timer, which keeps no process alive and stops when there are no keys.
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

  /** The key's entry, unless it says nothing any more. */
  find({ namespace, limit }: StateLocation, key: string, nowMicros: number): Entry | undefined {
    const entry = this.#namespaces.get(namespace)?.entries.get(key);
    if (entry === undefined || entry.limit.expiresMicros(entry.state) <= nowMicros) return undefined;
    if (limit.isPlausible(entry.state, nowMicros)) return entry;
    this.#namespaces.remove(entry); // What a broken clock wrote must not come back to life when time gets there.
    return undefined;
  }

  /** A new entry for the key, in the place of one that has expired. One that has none to replace is kept once `touched`. */
  create({ namespace: name, limit }: StateLocation, key: string, nowMicros: number): Entry {
    const stale = this.#namespaces.get(name)?.entries.get(key);
    if (stale !== undefined) return this.#replace(stale, limit);
    this.#sweep(nowMicros, SWEEPS_PER_NEW_KEY);
    const namespace = this.#namespaces.get(name) ?? new Namespace(name, this.#namespaces);
    while (this.#namespaces.size >= this.#maxKeys)
      this.#evict(this.#namespaces.findEvictionSource(namespace, this.#maxKeys));
    return new Entry(namespace, copyString(key), limit, limit.create());
  }

  /** Keeps an entry that was found, even when it made room for another key since. */
  restore(entry: Entry): void {
    if (entry.isRemoved) this.markRecorded(entry, entry.limit);
  }

  /** Notes that `limit` has recorded in the entry: keeps it, even when it made room for another key since. */
  markRecorded(entry: Entry, limit: StateLifecycle): void {
    if (entry.limit === limit && !entry.isRemoved) return; // Its expiry only moved on, which the queue finds out.
    entry.limit = limit;
    if (entry.isRemoved) {
      this.#namespaces.add(entry, limit.expiresMicros(entry.state));
      this.#startTimer(IDLE_SWEEP_MS);
    } else {
      this.#namespaces.move(entry, limit.expiresMicros(entry.state));
    }
  }

  /** Whether the entry is, or was, one of this table's. */
  has(entry: Entry): boolean {
    return this.#namespaces.has(entry);
  }

  /** Notes that something was taken back from the entry, which is one of this table's. */
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

  /** A copy for people and for tests. */
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

  /** A new life of a key whose old one has expired, in its place: much cheaper than a key that comes and goes. */
  #replace(stale: Entry, limit: StateLifecycle): Entry {
    const entry = new Entry(stale.namespace, stale.key, limit, limit.create());
    this.#namespaces.replace(stale, entry); // What is recorded now expires later than what has expired.
    return entry;
  }

  /** Removes expired entries, looking at `steps` of them at most. Whether any may be left. */
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

  /** Queues the entry for its true expiry, when that is later than what it was queued for. */
  #defer(entry: Entry): boolean {
    const expiresMicros = entry.limit.expiresMicros(entry.state);
    if (expiresMicros <= entry.priority) return false;
    this.#namespaces.move(entry, expiresMicros);
    return true;
  }

  /** Removes the key of this namespace that is nearest to its expiry. */
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
      isBehind = this.#sweep(readMicros(this.#clock), SWEEPS_PER_TURN);
    } catch {
      // A clock that tells no time is an error to whoever asks next; thrown from a timer it would end the process.
    }
    if (this.#namespaces.size > 0) this.#startTimer(isBehind ? BACKLOG_SWEEP_MS : IDLE_SWEEP_MS);
  }

  #startTimer(delayMs: number): void {
    this.#timer ??= setTimeout(() => this.#sweepIdle(), delayMs).unref();
  }
}
