import { type Clock, readMicros } from './clock.js';
import { type Expiring, ExpiryQueue } from './expiry-queue.js';
import type { Keeper } from './limits/limit.js';

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

/** The keys of one limit of one prefix. It is in the table while it has any. */
interface Space {
  readonly name: string;
  readonly entries: Map<string, Entry>;
}

/** One key of one rule. */
export class Entry implements Expiring {
  queuedMicros = 0;
  queueIndex = -1;
  constructor(
    readonly space: Space,
    readonly key: string,
    /** The limit that recorded last: the one that can read the state. */
    public limit: Keeper,
    readonly state: unknown,
  ) {}

  /** Whether the key was forgotten, and its hits with it. */
  get isForgotten(): boolean {
    return this.queueIndex < 0;
  }
}

/**
 * The keys of a store and the state of each: at most `maxKeys`, and those that have expired are given up, a few for
 * each key that is added and the rest by one timer, which keeps no process alive and stops when there are no keys.
 */
export class KeyTable {
  readonly #clock: Clock;
  readonly #maxKeys: number;
  readonly #spaces = new Map<string, Space>();
  readonly #queue = new ExpiryQueue<Entry>();
  #timer: NodeJS.Timeout | undefined;
  #hasWarned = false;

  constructor(clock: Clock, maxKeys: number) {
    this.#clock = clock;
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#queue.size;
  }

  /** The key's entry, unless it says nothing any more. */
  find({ space, limit }: Place, key: string, nowMicros: number): Entry | undefined {
    const entry = this.#spaces.get(space)?.entries.get(key);
    if (entry === undefined || entry.limit.expiresMicros(entry.state) <= nowMicros) return undefined;
    if (limit.isPlausible(entry.state, nowMicros)) return entry;
    this.#remove(entry); // What a broken clock wrote must not come back to life when time gets there.
    return undefined;
  }

  /** A new entry for the key, in the place of one that has expired. One that has none to replace is kept once `touched`. */
  create({ space, limit }: Place, key: string, nowMicros: number): Entry {
    const stale = this.#spaces.get(space)?.entries.get(key);
    if (stale !== undefined) return this.#replace(stale, limit);
    this.#sweep(nowMicros, SWEEPS_PER_NEW_KEY);
    while (this.#queue.size >= this.#maxKeys) this.#evict();
    return new Entry(
      this.#spaces.get(space) ?? { name: space, entries: new Map() },
      ownCopy(key),
      limit,
      limit.create(),
    );
  }

  /** Notes that `limit` has recorded in the entry: keeps it, also when it made room for another key since. */
  touch(entry: Entry, limit: Keeper): void {
    if (entry.limit === limit && !entry.isForgotten) return; // Its expiry only moved on, which the queue finds out.
    entry.limit = limit;
    if (entry.isForgotten) {
      entry.space.entries.set(entry.key, entry);
      this.#spaces.set(entry.space.name, entry.space);
      this.#queue.add(entry, limit.expiresMicros(entry.state));
      this.#startTimer(IDLE_SWEEP_MS);
    } else {
      this.#queue.move(entry, limit.expiresMicros(entry.state));
    }
  }

  /** Whether the entry is, or was, one of this table's. */
  has(entry: Entry): boolean {
    return entry.isForgotten || this.#queue.has(entry);
  }

  /** Notes that something was taken back from the entry, which is one of this table's. */
  reduced(entry: Entry): void {
    const expiresMicros = entry.limit.expiresMicros(entry.state);
    if (expiresMicros === -Infinity) this.#remove(entry);
    else this.#queue.move(entry, expiresMicros);
  }

  forget({ space }: Place, key: string): void {
    const entry = this.#spaces.get(space)?.entries.get(key);
    if (entry !== undefined) this.#remove(entry);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#spaces.clear();
    this.#queue.clear();
  }

  /** A copy for people and for tests. */
  toJSON(): { space: string; key: string; algorithm: string; state: unknown }[] {
    return [...this.#spaces].flatMap(([space, { entries }]) =>
      [...entries.values()].map(({ key, limit, state }) => ({
        space,
        key,
        algorithm: limit.algorithm,
        state: JSON.parse(JSON.stringify(state)),
      })),
    );
  }

  /** A new life of a key whose old one has expired, in its place: much cheaper than a key that comes and goes. */
  #replace(stale: Entry, limit: Keeper): Entry {
    const entry = new Entry(stale.space, stale.key, limit, limit.create());
    entry.space.entries.set(entry.key, entry);
    this.#queue.replace(stale, entry); // What is recorded now expires later than what has expired.
    return entry;
  }

  #remove(entry: Entry): void {
    const { name, entries } = entry.space;
    entries.delete(entry.key);
    if (entries.size === 0) this.#spaces.delete(name);
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
    this.#timer = undefined;
    let isBehind = false;
    try {
      isBehind = this.#sweep(readMicros(this.#clock), SWEEPS_PER_TURN);
    } catch {
      // A clock that tells no time is an error to whoever asks next; thrown from a timer it would end the process.
    }
    if (this.#queue.size > 0) this.#startTimer(isBehind ? BACKLOG_SWEEP_MS : IDLE_SWEEP_MS);
  }

  #startTimer(delayMs: number): void {
    this.#timer ??= setTimeout(() => this.#sweepIdle(), delayMs).unref();
  }
}

/**
 * The same text in memory of its own. A key that was cut out of a longer text, such as an address out of a header
 * field, would keep all of that text in memory.
 */
function ownCopy(key: string): string {
  const encoding = /^[\0-\xff]*$/.test(key) ? 'latin1' : 'utf16le'; // Exact for any string, lone surrogates included.
  return Buffer.from(key, encoding).toString(encoding);
}
