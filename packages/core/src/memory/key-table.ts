import { copyString } from '../base/copy-string.js';
import type { Effect, Place, StateOwner, StatePort, States } from '../engine/states.js';
import type { StateLifecycle } from '../limits/limit.js';
import { type Clock, readMicros } from '../time/clock.js';
import { UNQUEUED } from './block-head.js';
import { BlockNamespace } from './block-namespace.js';
import { BlockNamespaces } from './block-namespaces.js';
import { Entry } from './entry.js';
import { IdleSweep, type SweptKeys } from './idle-sweep.js';
import { SWEEPS_PER_NEW_KEY } from './namespace.js';
import { Reclaimer } from './reclaimer.js';
import { Slab } from './slab.js';

const NO_ADDRESSES: ReadonlyMap<string, number> = new Map();

/**
 * The states of a `MemoryStore`, at most `maxKeys`. `block-head.ts` describes their memory. Each new key drops a few expired
 * ones, and one timer drops the rest.
 */
export class KeyTable implements StatePort<true>, States, SweptKeys {
  nowMicros = 0.5; // A fraction makes V8 reserve room for any number.
  readonly slab = new Slab();
  readonly #clock: Clock;
  readonly #namespaces: BlockNamespaces;
  readonly #reclaimer: Reclaimer;
  readonly #idleSweep: IdleSweep;
  /** The views of the running operation are the first ones. The next operation uses them again. */
  readonly #entries = [new Entry(this.slab)];
  #opened = 0;
  /** A view for the table's own work. */
  readonly #entry = new Entry(this.slab);
  /** The number of lives so far, which identifies the latest one. */
  #lives = 0;

  constructor(clock: Clock, maxKeys: number) {
    this.#clock = clock;
    this.#namespaces = new BlockNamespaces(maxKeys);
    this.#reclaimer = new Reclaimer(this.#namespaces, this.slab);
    this.#idleSweep = new IdleSweep(clock, this);
  }

  get size(): number {
    return this.#namespaces.size;
  }

  run<Result>(_places: readonly Place[], _effect: Effect, operate: (states: States) => Result): Result {
    this.begin(readMicros(this.#clock));
    try {
      return operate(this);
    } finally {
      this.end();
    }
  }

  /** Begins an operation, until {@link end}. */
  begin(nowMicros: number): void {
    this.nowMicros = nowMicros;
  }

  end(): void {
    while (this.#opened > 0) {
      this.#opened -= 1;
      this.#close(this.#entries[this.#opened]!);
    }
  }

  find({ namespace: name, limit }: StateOwner, key: string): Entry | undefined {
    const namespace = this.#namespaces.get(name);
    const address = namespace?.places.get(key);
    if (namespace === undefined || address === undefined) return undefined;
    const entry = this.#nextEntry().open(namespace, key, address);
    const expiresMicros = limit.expiresMicros(entry);
    entry.expiresMicros = expiresMicros;
    if (expiresMicros <= this.nowMicros) {
      entry.close(); // A later operation could otherwise take the key for one of its own.
      return undefined;
    }
    if (!limit.isPlausible(entry, this.nowMicros)) {
      this.#namespaces.remove(entry); // Otherwise the state of a broken clock would count again once time gets there.
      return undefined;
    }
    this.#opened += 1;
    return entry;
  }

  findLife({ namespace: name, limit }: StateOwner, key: string, life: number): Entry | undefined {
    const namespace = this.#namespaces.get(name);
    const address = namespace?.places.get(key);
    if (namespace === undefined || address === undefined) return undefined;
    const entry = this.#nextEntry().open(namespace, key, address);
    if (entry.life !== life) {
      entry.close();
      return undefined;
    }
    entry.expiresMicros = limit.expiresMicros(entry);
    this.#opened += 1;
    return entry;
  }

  /** Reuses the entry of an expired life. Evicts keys from a full store, but none of the running operation. */
  create({ namespace: name, limit }: StateOwner, key: string): Entry {
    const found = this.#namespaces.get(name);
    const address = found?.places.get(key);
    const entry = this.#nextEntry();
    if (found !== undefined && address !== undefined) {
      // Much cheaper than removing and adding it. The key stays queued for its old time, which is before the new expiry. A
      // sweep or an eviction corrects that.
      entry.open(found, key, address).resize(limit.stateSize);
    } else {
      this.#reclaimer.sweep(this.nowMicros, SWEEPS_PER_NEW_KEY, this.#entries);
      const namespace = this.#namespaces.get(name) ?? new BlockNamespace(name, limit, this.slab);
      this.#namespaces.makeRoom(namespace, (source) => this.#reclaimer.evict(source, this.nowMicros, this.#entries));
      this.#namespaces.add(entry.allocate(namespace, copyString(key), limit.stateSize));
    }
    this.#opened += 1;
    const { namespace } = entry;
    // The longest keep determines the grace of expired keys, and with it the position of the namespace.
    if (limit.keepMicros > namespace.lifecycle.keepMicros) {
      namespace.lifecycle = limit;
      this.#namespaces.requeue(namespace);
    }
    this.#lives += 1;
    entry.life = this.#lives;
    entry.expiresMicros = -Infinity;
    limit.create(entry);
    return entry;
  }

  /**
   * Queues an entry that has changed by its expiry. A later expiry than at the lookup does not change the queue, because a
   * sweep or an eviction corrects it. So the check of a plain window need not call this.
   */
  save(entry: Entry, limit: StateLifecycle): void {
    const expiresMicros = limit.expiresMicros(entry);
    if (expiresMicros === -Infinity) this.#namespaces.remove(entry);
    else if (entry.queueIndex === UNQUEUED) this.#enqueue(entry, expiresMicros);
    else if (expiresMicros < entry.expiresMicros && expiresMicros < entry.namespace.queue.microsAt(entry.queueIndex)) {
      this.#namespaces.move(entry, expiresMicros);
    }
  }

  remove({ namespace: name }: StateOwner, key: string): void {
    const namespace = this.#namespaces.get(name);
    const address = namespace?.places.get(key);
    if (namespace !== undefined && address !== undefined) {
      this.#namespaces.remove(this.#entry.open(namespace, key, address));
    }
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
    return this.#namespaces.get(name)?.places ?? NO_ADDRESSES;
  }

  sweep(nowMicros: number, steps: number): boolean {
    return this.#reclaimer.sweep(nowMicros, steps);
  }

  clear(): void {
    this.#idleSweep.stop();
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
      [...namespace.places].map(([key, address]) => ({
        namespace: namespace.name,
        key,
        algorithm: namespace.lifecycle.algorithm,
        state: namespace.lifecycle.describe(this.#entry.open(namespace, key, address)),
      })),
    );
  }

  #nextEntry(): Entry {
    if (this.#opened === this.#entries.length) this.#entries.push(new Entry(this.slab));
    return this.#entries[this.#opened]!;
  }

  /** Queues an entry again that the operation took from the queue instead of evicting it. */
  #close(entry: Entry): void {
    const { namespace, key, address } = entry;
    if (entry.queueIndex === UNQUEUED && namespace.places.get(key) === address) {
      this.#enqueue(entry, entry.expiresMicros);
    }
    entry.close();
  }

  #enqueue(entry: Entry, micros: number): void {
    this.#namespaces.enqueue(entry, micros);
    this.#idleSweep.start();
  }
}
