import { copyString } from '../base/copy-string.js';
import type { Effect, Place, StateOwner, StatePort, States } from '../engine/states.js';
import type { StateLifecycle } from '../limits/limit.js';
import { type Clock, readMicros } from '../time/clock.js';
import { IdleSweep, type SweptKeys } from './idle-sweep.js';
import { MapEntry, MapNamespace } from './map-entry.neutral.js';
import { SWEEPS_PER_NEW_KEY } from './namespace.js';
import { Namespaces } from './namespaces.js';

/**
 * The counterpart of `KeyTable` in the build for bundles, which must be small. Each state is an object in a `Map`, and each
 * queue has exact times between two operations.
 */
export class MapTable implements StatePort<true>, States, SweptKeys {
  nowMicros = 0;
  readonly namespaces: Namespaces<MapNamespace>;
  readonly #clock: Clock;
  readonly #idleSweep: IdleSweep;
  /** The entries that the running operation uses. */
  #used: MapEntry[] = [];
  /** The number of lives so far, which identifies the latest one. */
  #lives = 0;

  constructor(clock: Clock, maxKeys: number) {
    this.#clock = clock;
    this.namespaces = new Namespaces(maxKeys);
    this.#idleSweep = new IdleSweep(clock, this);
  }

  get size(): number {
    return this.namespaces.size;
  }

  run<Result>(_places: readonly Place[], _effect: Effect, operate: (states: States) => Result): Result {
    this.nowMicros = readMicros(this.#clock);
    try {
      return operate(this);
    } finally {
      for (const entry of this.#used) this.#enqueue(entry);
      this.#used = [];
    }
  }

  find(rule: StateOwner, key: string): MapEntry | undefined {
    const entry = this.#entryOf(rule, key);
    if (entry === undefined || entry.expiresMicros <= this.nowMicros) return undefined;
    if (rule.limit.isPlausible(entry, this.nowMicros)) return this.#use(entry);
    this.#drop(entry); // Otherwise the state of a broken clock would count again once time gets there.
    return undefined;
  }

  findLife(rule: StateOwner, key: string, life: number): MapEntry | undefined {
    const entry = this.#entryOf(rule, key);
    return entry?.life === life ? this.#use(entry) : undefined;
  }

  /** Reuses the entry of an expired life. Evicts keys from a full store, but none of the running operation. */
  create(rule: StateOwner, key: string): MapEntry {
    const { limit } = rule;
    const entry = this.#entryOf(rule, key) ?? this.#add(rule, key);
    // The longest keep determines the grace of expired keys.
    if (limit.keepMicros > entry.namespace.lifecycle.keepMicros) entry.namespace.lifecycle = limit;
    this.#lives += 1;
    entry.life = this.#lives;
    entry.expiresMicros = -Infinity;
    entry.resize(limit.stateSize);
    limit.create(entry);
    return this.#use(entry);
  }

  save(entry: MapEntry, limit: StateLifecycle): void {
    entry.expiresMicros = limit.expiresMicros(entry);
    if (entry.expiresMicros === -Infinity) this.#drop(entry);
  }

  remove(rule: StateOwner, key: string): void {
    const entry = this.#entryOf(rule, key);
    if (entry !== undefined) this.#drop(entry);
  }

  sweep(nowMicros: number, steps: number): boolean {
    for (let step = 0; step < steps; step++) {
      const { first } = this.namespaces;
      if (first === undefined || first.priority > nowMicros) return false;
      this.#drop(first.queue.first!);
    }
    return true;
  }

  clear(): void {
    this.#idleSweep.stop();
    this.namespaces.clear();
  }

  #entryOf({ namespace }: StateOwner, key: string): MapEntry | undefined {
    return this.namespaces.get(namespace)?.places.get(key);
  }

  #add({ namespace: name, limit }: StateOwner, key: string): MapEntry {
    for (const entry of this.#used) this.#dequeue(entry); // So that they are not evicted.
    this.sweep(this.nowMicros, SWEEPS_PER_NEW_KEY);
    const namespace = this.namespaces.get(name) ?? new MapNamespace(name, limit);
    this.namespaces.makeRoom(namespace, (source) => {
      const { queue } = source;
      this.#drop(source.findImplausible(this.nowMicros, (index) => queue.at(index)) ?? queue.first!);
    });
    const entry = new MapEntry(namespace, copyString(key));
    namespace.places.set(entry.key, entry);
    this.namespaces.onAdded(namespace);
    return entry;
  }

  #use(entry: MapEntry): MapEntry {
    this.#used.push(entry);
    return entry;
  }

  #drop(entry: MapEntry): void {
    const { namespace } = entry;
    this.#dequeue(entry);
    namespace.places.delete(entry.key);
    this.namespaces.onRemoved(namespace);
  }

  /** Queues an entry, unless the operation has dropped it. */
  #enqueue(entry: MapEntry): void {
    const { namespace, key, expiresMicros } = entry;
    if (namespace.places.get(key) !== entry) return;
    namespace.queue.set(entry, expiresMicros);
    this.namespaces.requeue(namespace);
    this.#idleSweep.start();
  }

  #dequeue(entry: MapEntry): void {
    entry.namespace.queue.remove(entry);
    this.namespaces.requeue(entry.namespace);
  }
}
