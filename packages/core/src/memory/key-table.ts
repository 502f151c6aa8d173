import { startBackgroundTimer, type Timer } from '../base/background-timer.js';
import { copyString } from '../base/copy-string.js';
import { emitWarning } from '../base/platform.js';
import { referWeakly } from '../base/weak-reference.js';
import type { StateLifecycle } from '../limits/limit.js';
import { type Clock, readMicros } from '../time/clock.js';
import { describeFullStore } from '../validation/warning-texts.js';
import { UNQUEUED } from './block-head.js';
import { Entry } from './entry.js';
import { Namespace } from './namespace.js';
import { Namespaces } from './namespaces.js';
import { type Kept, Reclaimer } from './reclaimer.js';
import { Slab } from './slab.js';

/** More than one per new key, so that expired keys are dropped faster than new ones are added. */
const SWEEPS_PER_NEW_KEY = 2;

/** How many keys a run of the timer examines, few enough not to delay a request noticeably. */
const SWEEPS_PER_RUN = 5_000;
const IDLE_SWEEP_MS = 1_000;
const BACKLOG_SWEEP_MS = 5;

const NO_ENTRIES: Kept = [];
const NO_ADDRESSES: ReadonlyMap<string, number> = new Map();

/** Identifies the states of one limit or counter. */
export interface StateLocation {
  readonly namespace: string;
  readonly limit: StateLifecycle;
}

/**
 * The keys of a store and their states, at most `maxKeys`. `block-head.ts` describes their memory. Each new key drops a
 * few expired ones, and one timer drops the rest. The timer does not keep the process alive and stops when the table is
 * empty.
 */
export class KeyTable {
  readonly #clock: Clock;
  readonly #maxKeys: number;
  readonly #namespaces = new Namespaces();
  readonly slab = new Slab();
  readonly #reclaimer = new Reclaimer(this.#namespaces, this.slab);
  /** A view for the table's own work. */
  readonly #entry = new Entry(this.slab);
  /** The number of lives so far, which identifies the latest one. */
  #lives = 0;
  #timer: Timer | undefined;
  /** What the timer has of the table, so that an unused store can be collected before its keys expire. */
  readonly #self = referWeakly(this);
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
    return new Entry(this.slab);
  }

  /**
   * Points the view at the key's entry and returns it. Returns `undefined` if there is none, or if it has expired. Drops an
   * entry that lies implausibly far ahead, and returns `undefined`.
   */
  find({ namespace: name, limit }: StateLocation, key: string, nowMicros: number, entry: Entry): Entry | undefined {
    const namespace = this.#namespaces.get(name);
    const address = namespace?.addresses.get(key);
    if (namespace === undefined || address === undefined) return undefined;
    entry.open(namespace, key, address);
    const expiresMicros = limit.expiresMicros(entry);
    entry.expiresMicros = expiresMicros;
    if (expiresMicros <= nowMicros) return undefined;
    if (limit.isPlausible(entry, nowMicros)) return entry;
    this.#namespaces.remove(entry); // Otherwise the state of a broken clock would count again once time gets there.
    return undefined;
  }

  /**
   * Returns the entry of a key that has this address, even if its state has expired. It is the table's own view, so use it at
   * once.
   */
  open(name: string, key: string, address: number): Entry {
    return this.#entry.open(this.#namespaces.get(name)!, key, address);
  }

  /**
   * The address of each key's block in this namespace, even if its state has expired. Once the namespace has no keys, this
   * map is empty, and its next key may get another map.
   */
  addressesOf(name: string): ReadonlyMap<string, number> {
    return this.#namespaces.get(name)?.addresses ?? NO_ADDRESSES;
  }

  /** Points the view at the key's entry and returns it if the key is still in this life, even if its state has expired. */
  findLife(name: string, key: string, life: number, entry: Entry): Entry | undefined {
    const namespace = this.#namespaces.get(name);
    const address = namespace?.addresses.get(key);
    if (namespace === undefined || address === undefined) return undefined;
    return entry.open(namespace, key, address).life === life ? entry : undefined;
  }

  /**
   * Starts a new life of the key and points the view at its entry. Reuses the entry of an expired life.
   * {@link markRecorded} queues a new entry.
   *
   * @param kept The entries of this check. None of them is evicted.
   */
  create(location: StateLocation, key: string, nowMicros: number, entry: Entry, kept = NO_ENTRIES): Entry {
    const { namespace: name, limit } = location;
    const found = this.#namespaces.get(name);
    const address = found?.addresses.get(key);
    if (found !== undefined && address !== undefined) {
      // The entry of an expired life. To reuse it is much cheaper than to remove it and add another one. The key stays queued
      // for its old time, which is before the new expiry. A sweep or an eviction corrects that.
      entry.open(found, key, address).resize(limit.stateSize);
    } else {
      this.#reclaimer.sweep(nowMicros, SWEEPS_PER_NEW_KEY, kept);
      const namespace = this.#namespaces.get(name) ?? new Namespace(name, limit, this.slab);
      this.#makeRoom(namespace, nowMicros, kept);
      this.#namespaces.add(entry.allocate(namespace, copyString(key), limit.stateSize));
    }
    const { namespace } = entry;
    // The longest keep determines the grace of expired keys, and with it the position of the namespace.
    if (limit.keepMicros > namespace.lifecycle.keepMicros) {
      namespace.lifecycle = limit;
      this.#namespaces.requeue(namespace);
    }
    this.#lives += 1;
    entry.life = this.#lives;
    limit.create(entry);
    return entry;
  }

  /** Queues an entry of this check again, if the check made room and took it from the queue instead of evicting it. */
  restore(entry: Entry): void {
    if (entry.queueIndex === UNQUEUED) this.#enqueue(entry, entry.expiresMicros);
  }

  /**
   * Call it after a limit has recorded in an entry that {@link find} or {@link create} returned. A later expiry than before
   * does not change the queue, because a sweep or an eviction corrects it. So the check of a plain window need not call this.
   */
  markRecorded(entry: Entry, limit: StateLifecycle): void {
    const expiresMicros = limit.expiresMicros(entry);
    if (entry.queueIndex === UNQUEUED) this.#enqueue(entry, expiresMicros);
    else if (expiresMicros < entry.expiresMicros) this.#moveEarlier(entry, expiresMicros);
  }

  /** Call it after a refund from an entry of this table. */
  markRefunded(entry: Entry, limit: StateLifecycle): void {
    const expiresMicros = limit.expiresMicros(entry);
    if (expiresMicros === -Infinity) this.#namespaces.remove(entry);
    else this.#moveEarlier(entry, expiresMicros);
  }

  remove({ namespace: name }: StateLocation, key: string): void {
    const namespace = this.#namespaces.get(name);
    const address = namespace?.addresses.get(key);
    if (namespace !== undefined && address !== undefined) {
      this.#namespaces.remove(this.#entry.open(namespace, key, address));
    }
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#namespaces.clear();
    this.slab.clear();
  }

  /** Returns a copy for debugging and tests. */
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
    return [...this.#namespaces].flatMap((namespace) =>
      [...namespace.addresses].map(([key, address]) => ({
        namespace: namespace.name,
        key,
        algorithm: namespace.lifecycle.algorithm,
        state: namespace.lifecycle.describe(this.#entry.open(namespace, key, address)),
      })),
    );
  }

  /** Evicts keys until there is room for one of this namespace, or only keys of this check are left. */
  #makeRoom(namespace: Namespace, nowMicros: number, kept: Kept): void {
    while (this.size >= this.#maxKeys) {
      const source = this.#namespaces.findEvictionSource(namespace, this.#maxKeys);
      if (source === undefined) return;
      this.#reclaimer.evict(source, nowMicros, kept);
      this.#warnOnce();
    }
  }

  #enqueue(entry: Entry, micros: number): void {
    this.#namespaces.enqueue(entry, micros);
    this.#startTimer(IDLE_SWEEP_MS);
  }

  #moveEarlier(entry: Entry, micros: number): void {
    if (micros < entry.namespace.queue.microsAt(entry.queueIndex)) this.#namespaces.move(entry, micros);
  }

  #warnOnce(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    emitWarning(describeFullStore(this.#maxKeys), { type: 'RollgateWarning', code: 'ROLLGATE_KEYS_EVICTED' });
  }

  #sweepIdle(): void {
    this.#timer = undefined;
    let isBehind = false;
    try {
      isBehind = this.#reclaimer.sweep(readMicros(this.#clock), SWEEPS_PER_RUN, NO_ENTRIES);
    } catch {
      // An invalid clock throws at the next check. Thrown from a timer, its error would end the process.
    }
    if (this.size > 0) this.#startTimer(isBehind ? BACKLOG_SWEEP_MS : IDLE_SWEEP_MS);
  }

  #startTimer(delayMs: number): void {
    if (this.#timer !== undefined) return;
    const self = this.#self;
    this.#timer = startBackgroundTimer(() => {
      const table = self.deref();
      if (table !== undefined) table.#sweepIdle();
    }, delayMs);
  }
}
