import { type Clock, readMicros } from './clock.js';
import { copyString } from './copy-string.js';
import { Entry } from './entry.js';
import type { StateLifecycle } from './limits/limit.js';
import { Namespace } from './namespace.js';
import { Namespaces } from './namespaces.js';
import { Slab } from './slab.js';

/** More than one per new key, so that expired keys are dropped faster than new ones are added. */
const SWEEPS_PER_NEW_KEY = 2;

/** Keys per run of the idle sweep. The run is so short that a request behind it does not notice. */
const SWEEPS_PER_RUN = 5_000;
const IDLE_SWEEP_MS = 1_000;
const BACKLOG_SWEEP_MS = 5;

/**
 * An expired key stays for another window, at most for a minute. A clock that steps back by less then finds the same
 * state.
 */
const MAX_GRACE_MICROS = 60_000_000;

const NO_ENTRIES: readonly (Entry | undefined)[] = [];

/** Identifies the states of one limit or counter. */
export interface StateLocation {
  readonly namespace: string;
  readonly limit: StateLifecycle;
}

/**
 * The keys of a store and their states, at most `maxKeys`. `entry.ts` describes their memory. Each new key drops a few
 * expired ones, and one timer drops the rest. The timer does not keep the process alive and stops when the table is
 * empty.
 */
export class KeyTable {
  readonly #clock: Clock;
  readonly #maxKeys: number;
  readonly #namespaces = new Namespaces();
  readonly #slab = new Slab();
  /** A view for the table's own work. */
  readonly #entry = new Entry(this.#slab);
  /** How many lives there were. */
  #lives = 0;
  #timer: NodeJS.Timeout | undefined;
  #hasWarned = false;

  constructor(clock: Clock, maxKeys: number) {
    this.#clock = clock;
    this.#maxKeys = maxKeys;
  }

  get size(): number {
    return this.#namespaces.size;
  }

  /** Creates a view of a key's entry, for {@link find} and {@link create}. */
  createEntry(): Entry {
    return new Entry(this.#slab);
  }

  /** Returns the view with the key's entry, unless that has expired. Drops an implausible one. */
  find({ namespace: name, limit }: StateLocation, key: string, nowMicros: number, entry: Entry): Entry | undefined {
    const namespace = this.#namespaces.get(name);
    const address = namespace?.addresses.get(key);
    if (namespace === undefined || address === undefined) return undefined;
    entry.open(namespace, key, address);
    const expiresMicros = limit.expiresMicros(entry);
    entry.expiresMicros = expiresMicros;
    if (expiresMicros <= nowMicros) return undefined;
    if (limit.isPlausible(entry, nowMicros)) return entry;
    this.#remove(entry); // Otherwise the state of a broken clock would count again once time gets there.
    return undefined;
  }

  /** Returns the view with the key's entry in the life with this number, unless that life is over. */
  findLife(name: string, key: string, life: number, entry: Entry): Entry | undefined {
    const namespace = this.#namespaces.get(name);
    const address = namespace?.addresses.get(key);
    if (namespace === undefined || address === undefined) return undefined;
    return entry.open(namespace, key, address).life === life ? entry : undefined;
  }

  /**
   * Starts a life of the key, in the view. It replaces an expired one at once. Without one, {@link markRecorded} adds it
   * to the table.
   *
   * @param kept The entries of this check. Each of them keeps its block, even if this removes its key.
   */
  create(location: StateLocation, key: string, nowMicros: number, entry: Entry, kept = NO_ENTRIES): Entry {
    const { namespace: name, limit } = location;
    const expired = this.#namespaces.get(name);
    const address = expired?.addresses.get(key);
    if (expired !== undefined && address !== undefined) {
      // Much cheaper than a removal. The key stays queued, because its new life expires later.
      entry.open(expired, key, address).resize(limit.stateSize);
    } else {
      this.#sweep(nowMicros, SWEEPS_PER_NEW_KEY, kept);
      const namespace = this.#namespaces.get(name) ?? new Namespace(name, limit);
      while (this.size >= this.#maxKeys) {
        this.#evict(this.#namespaces.findEvictionSource(namespace, this.#maxKeys), kept);
      }
      entry.allocate(namespace, key, limit.stateSize);
    }
    const { namespace } = entry;
    if (limit.keepMicros > namespace.lifecycle.keepMicros) namespace.lifecycle = limit;
    this.#lives += 1;
    entry.life = this.#lives;
    limit.create(entry);
    return entry;
  }

  /** Adds an entry again whose key was removed since this check found it. */
  restore(entry: Entry): void {
    if (!entry.isListed) this.markRecorded(entry, entry.namespace.lifecycle);
  }

  /** Call it when a limit has recorded in the entry. Adds the entry if it is new, or if its key was removed since. */
  markRecorded(entry: Entry, limit: StateLifecycle): void {
    const expiresMicros = limit.expiresMicros(entry);
    const { queuedMicros } = entry;
    if (queuedMicros === -Infinity) {
      entry.key = copyString(entry.key);
      this.#namespaces.add(entry, expiresMicros);
      this.#startTimer(IDLE_SWEEP_MS);
    } else if (expiresMicros < queuedMicros) {
      this.#enqueueEarlier(entry, expiresMicros);
    }
  }

  /** Call it after a refund from an entry of this table. */
  markRefunded(entry: Entry, limit: StateLifecycle): void {
    const expiresMicros = limit.expiresMicros(entry);
    if (expiresMicros === -Infinity) this.#remove(entry);
    else if (expiresMicros < entry.queuedMicros) this.#enqueueEarlier(entry, expiresMicros);
  }

  remove({ namespace: name }: StateLocation, key: string): void {
    const namespace = this.#namespaces.get(name);
    const address = namespace?.addresses.get(key);
    if (namespace !== undefined && address !== undefined) this.#remove(this.#entry.open(namespace, key, address));
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#namespaces.clear();
    this.#slab.clear();
  }

  /** Returns a copy for debugging and tests. */
  toJSON(): { namespace: string; key: string; algorithm: string; state: unknown }[] {
    return [...this.#namespaces].flatMap((namespace) =>
      [...namespace.addresses].map(([key, address]) => ({
        namespace: namespace.name,
        key,
        algorithm: namespace.lifecycle.algorithm,
        state: namespace.lifecycle.describe(this.#entry.open(namespace, key, address)),
      })),
    );
  }

  #remove(entry: Entry): void {
    this.#namespaces.remove(entry);
    entry.release();
    this.#refillQueue(entry.namespace);
  }

  #enqueueEarlier(entry: Entry, micros: number): void {
    entry.key = copyString(entry.key);
    this.#namespaces.enqueue(entry, micros);
    this.#refillQueue(entry.namespace);
  }

  /** Drops all stale members of the namespace's queue, once there are many. */
  #refillQueue(namespace: Namespace): void {
    if (!this.#namespaces.hasStaleQueue(namespace)) return;
    namespace.queue.clear();
    for (const [key, address] of namespace.addresses) {
      namespace.queue.add(this.#entry.open(namespace, key, address).queuedMicros, key);
    }
    this.#namespaces.requeue(namespace);
  }

  /** Removes expired keys in at most `steps` steps. Returns whether any may be left. */
  #sweep(nowMicros: number, steps: number, kept = NO_ENTRIES): boolean {
    for (let step = 0; step < steps; step++) {
      const namespace = this.#namespaces.first;
      if (namespace === undefined || namespace.priority > nowMicros) return false;
      const entry = this.#tryFirst(namespace);
      if (entry === undefined) continue;
      const graceMicros = Math.min(namespace.lifecycle.keepMicros, MAX_GRACE_MICROS);
      if (namespace.priority + graceMicros > nowMicros) return false;
      this.#removeFirst(entry, kept);
    }
    return true;
  }

  /**
   * Returns the first key of the namespace's queue, which is not empty. Or it corrects the queue: it drops a stale
   * member, or queues the key for its true expiry if that is later.
   */
  #tryFirst(namespace: Namespace): Entry | undefined {
    const { firstMicros, firstKey } = namespace.queue;
    const address = namespace.addresses.get(firstKey);
    const entry = address === undefined ? undefined : this.#entry.open(namespace, firstKey, address);
    if (entry?.queuedMicros !== firstMicros) {
      this.#namespaces.dropFirst(namespace);
      return undefined;
    }
    const expiresMicros = namespace.lifecycle.expiresMicros(entry);
    if (expiresMicros <= firstMicros) return entry;
    this.#namespaces.deferFirst(entry, expiresMicros);
    return undefined;
  }

  /** Removes the key of this namespace that expires first. */
  #evict(namespace: Namespace, kept: readonly (Entry | undefined)[]): void {
    let entry = this.#tryFirst(namespace);
    while (entry === undefined) entry = this.#tryFirst(namespace);
    this.#removeFirst(entry, kept);
    this.#warnOnce();
  }

  /** Removes the first key of a queue. */
  #removeFirst(entry: Entry, kept: readonly (Entry | undefined)[]): void {
    const { namespace, address } = entry;
    namespace.queue.removeFirst();
    if (kept.some((other) => other?.address === address)) this.#namespaces.remove(entry);
    else this.#remove(entry);
  }

  #warnOnce(): void {
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
    if (this.size > 0) this.#startTimer(isBehind ? BACKLOG_SWEEP_MS : IDLE_SWEEP_MS);
  }

  #startTimer(delayMs: number): void {
    this.#timer ??= setTimeout(() => this.#sweepIdle(), delayMs).unref();
  }
}
