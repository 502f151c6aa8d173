import { type Clock, readMicros } from './clock.js';
import type { Keeper } from './limits/limit.js';
import { ownCopy } from './own-copy.js';
import { Entry, Space, Spaces } from './spaces.js';

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
const LONGEST_GRACE_MICROS = 60_000_000;

/** Where the states of a keeper are found. */
export interface Place {
  readonly space: string;
  readonly limit: Keeper;
}

/**
 * The keys of a store and the state of each: at most `maxKeys`, and those that have expired are given up, a few for
 * each key that is added and the rest by one timer, which keeps no process alive and stops when there are no keys.
 */
export class KeyTable {
  readonly #clock: Clock;
  readonly #maxKeys: number;
  readonly #spaces = new Spaces();
  #timer: NodeJS.Timeout | undefined;
  #hasWarned = false;

  constructor(clock: Clock, maxKeys: number) {
    this.#clock = clock;
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#spaces.size;
  }

  /** The key's entry, unless it says nothing any more. */
  find({ space, limit }: Place, key: string, nowMicros: number): Entry | undefined {
    const entry = this.#spaces.get(space)?.entries.get(key);
    if (entry === undefined || entry.limit.expiresMicros(entry.state) <= nowMicros) return undefined;
    if (limit.isPlausible(entry.state, nowMicros)) return entry;
    this.#spaces.remove(entry); // What a broken clock wrote must not come back to life when time gets there.
    return undefined;
  }

  /** A new entry for the key, in the place of one that has expired. One that has none to replace is kept once `touched`. */
  create({ space: name, limit }: Place, key: string, nowMicros: number): Entry {
    const stale = this.#spaces.get(name)?.entries.get(key);
    if (stale !== undefined) return this.#replace(stale, limit);
    this.#sweep(nowMicros, SWEEPS_PER_NEW_KEY);
    const space = this.#spaces.get(name) ?? new Space(name, this.#spaces);
    while (this.#spaces.size >= this.#maxKeys) this.#evict(this.#spaces.toMakeRoom(space, this.#maxKeys));
    return new Entry(space, ownCopy(key), limit, limit.create());
  }

  /** Keeps an entry that was found, even when it made room for another key since. */
  keep(entry: Entry): void {
    if (entry.isForgotten) this.touch(entry, entry.limit);
  }

  /** Notes that `limit` has recorded in the entry: keeps it, even when it made room for another key since. */
  touch(entry: Entry, limit: Keeper): void {
    if (entry.limit === limit && !entry.isForgotten) return; // Its expiry only moved on, which the queue finds out.
    entry.limit = limit;
    if (entry.isForgotten) {
      this.#spaces.add(entry, limit.expiresMicros(entry.state));
      this.#startTimer(IDLE_SWEEP_MS);
    } else {
      this.#spaces.move(entry, limit.expiresMicros(entry.state));
    }
  }

  /** Whether the entry is, or was, one of this table's. */
  has(entry: Entry): boolean {
    return this.#spaces.has(entry);
  }

  /** Notes that something was taken back from the entry, which is one of this table's. */
  reduced(entry: Entry): void {
    const expiresMicros = entry.limit.expiresMicros(entry.state);
    if (expiresMicros === -Infinity) this.#spaces.remove(entry);
    else this.#spaces.move(entry, expiresMicros);
  }

  forget({ space }: Place, key: string): void {
    const entry = this.#spaces.get(space)?.entries.get(key);
    if (entry !== undefined) this.#spaces.remove(entry);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#spaces.clear();
  }

  /** A copy for people and for tests. */
  toJSON(): { space: string; key: string; algorithm: string; state: unknown }[] {
    return [...this.#spaces].flatMap(({ name, entries }) =>
      [...entries.values()].map(({ key, limit, state }) => ({
        space: name,
        key,
        algorithm: limit.algorithm,
        state: JSON.parse(JSON.stringify(state)),
      })),
    );
  }

  /** A new life of a key whose old one has expired, in its place: much cheaper than a key that comes and goes. */
  #replace(stale: Entry, limit: Keeper): Entry {
    const entry = new Entry(stale.space, stale.key, limit, limit.create());
    this.#spaces.replace(stale, entry); // What is recorded now expires later than what has expired.
    return entry;
  }

  /** Removes expired entries, looking at `steps` of them at most. Whether any may be left. */
  #sweep(nowMicros: number, steps: number): boolean {
    for (let step = 0; step < steps; step++) {
      const entry = this.#spaces.first;
      if (entry === undefined || entry.queuedMicros > nowMicros) return false;
      if (this.#defer(entry)) continue;
      const graceMicros = Math.min(entry.limit.keepMicros, LONGEST_GRACE_MICROS);
      if (entry.queuedMicros + graceMicros > nowMicros) return false;
      this.#spaces.remove(entry);
    }
    return true;
  }

  /** Queues the entry for its true expiry, when that is later than what it was queued for. */
  #defer(entry: Entry): boolean {
    const expiresMicros = entry.limit.expiresMicros(entry.state);
    if (expiresMicros <= entry.queuedMicros) return false;
    this.#spaces.move(entry, expiresMicros);
    return true;
  }

  /** Removes the key of this space that is nearest to its expiry. */
  #evict({ queue }: Space): void {
    let entry = queue.first as Entry;
    while (this.#defer(entry)) entry = queue.first as Entry;
    this.#spaces.remove(entry);
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
    if (this.#spaces.size > 0) this.#startTimer(isBehind ? BACKLOG_SWEEP_MS : IDLE_SWEEP_MS);
  }

  #startTimer(delayMs: number): void {
    this.#timer ??= setTimeout(() => this.#sweepIdle(), delayMs).unref();
  }
}
