import type { StateLifecycle } from '../limits/limit.js';
import type { Effect, Place, StateOwner, StatePort, States } from '../operations/states.js';
import { copyString } from '../store/stored-key.js';
import { type Clock, createReader } from '../time/clock.js';
import { Cell, HEAD, LIFE, NOWHERE } from './cell.js';
import { UNQUEUED } from './expiry-queue.js';
import { IdleSweep, type SweptKeys } from './idle-sweep.js';
import { Namespace, NO_NAMESPACE, SWEEPS_PER_NEW_KEY } from './namespace.js';
import { Namespaces } from './namespaces.js';
import { Reclaimer } from './reclaimer.js';
import { Slab } from './slab.js';

/**
 * The states of a `MemoryStore`, at most `maxKeys`. `cell.ts` describes their memory. Each new key drops a few expired ones,
 * and one timer drops the rest.
 */
export class KeyTable implements StatePort<true>, States, SweptKeys {
  /** Whether the running operation has added a key, or has taken one out of its queue. Otherwise {@link end} does nothing. */
  hasUnqueued = false;
  nowMicros = 0.5; // A fraction makes V8 reserve room for any number.
  readonly #slab = new Slab();
  // V8 inlines a whole check only if its bytecode is short enough. `#` would make each use of these and of `requeue` longer.
  private readonly readMicros: () => number;
  /** Whether the clock has ever stepped back. Otherwise, every state is plausible. */
  private stepsBack = false;
  private readonly namespaces: Namespaces;
  readonly #reclaimer: Reclaimer;
  readonly #idleSweep: IdleSweep;
  private readonly firstView = new Cell(this.#slab);
  private readonly views = [this.firstView];
  /** How many of the views the running operation uses. The next operation uses them again. A number costs no write barrier. */
  private used = 0;
  /** The numbers of no key, for tests. */
  #blank = new Float64Array(16);
  /** The number of lives so far, which identifies the latest one. */
  #lives = 0;

  constructor(clock: Clock, maxKeys: number) {
    this.readMicros = createReader(clock);
    this.namespaces = new Namespaces(maxKeys);
    this.#reclaimer = new Reclaimer(this.namespaces, this.#slab, (cell) => this.#keep(cell));
    this.#idleSweep = new IdleSweep(clock, this);
  }

  get size(): number {
    return this.namespaces.size;
  }

  run<Result>(_places: readonly Place[], _effect: Effect, operate: (states: States) => Result): Result {
    this.start();
    const result = operate(this);
    if (this.hasUnqueued) this.end();
    return result;
  }

  /** Starts an operation, until {@link end}. If one before it has thrown, ends that, too. */
  start(): void {
    if (this.hasUnqueued) this.end();
    this.used = 0;
    const nowMicros = this.readMicros();
    if (nowMicros < this.nowMicros) this.stepsBack = true;
    this.nowMicros = nowMicros;
  }

  /** Queues the keys that the operation has begun or kept, so that they can expire. */
  end(): void {
    this.hasUnqueued = false;
    for (let index = 0; index < this.used; index++) {
      const cell = this.views[index]!;
      if (cell.address === NOWHERE || cell.queueIndex !== UNQUEUED) continue;
      const { addresses, lifecycle } = cell.namespace;
      if (addresses.get(cell.key) === cell.address) this.#enqueue(cell, lifecycle.expiresMicros(cell));
    }
    this.used = 0;
  }

  find(owner: StateOwner, key: string): Cell {
    const cell = this.used === 0 ? this.firstView : this.viewAt(this.used);
    this.used += 1;
    let { namespace } = cell;
    if (namespace.owner !== owner) {
      namespace = this.namespaces.of(owner);
      cell.namespace = namespace;
    }
    const address = namespace.addresses.get(key);
    if (address === undefined) return cell.close();
    const expiresMicros = owner.limit.expiresMicros(cell.turnTo(address));
    cell.expiresMicros = expiresMicros;
    cell.isNew = expiresMicros <= this.nowMicros;
    if (this.stepsBack) this.removeImplausible(cell, owner);
    return cell;
  }

  /** Otherwise, the state of a broken clock would count again once time gets there. */
  private removeImplausible(cell: Cell, { limit }: StateOwner): void {
    if (!cell.isNew && !limit.isPlausible(cell, this.nowMicros)) this.namespaces.remove(cell);
  }

  findLife(owner: StateOwner, key: string, life: number): Cell | undefined {
    const cell = this.#findCell(owner, key);
    if (cell === undefined) return undefined;
    cell.expiresMicros = owner.limit.expiresMicros(cell);
    return cell.life === life ? cell : undefined;
  }

  blank(cell: Cell, limit: StateLifecycle): void {
    if (this.#blank.length < HEAD + limit.stateSize) this.#blank = new Float64Array(HEAD + limit.stateSize);
    cell.openBlank(this.#blank, limit.stateSize);
    limit.create(cell);
  }

  /** Reuses the cell of an expired life. Evicts keys from a full store, but none of the running operation. */
  begin(cell: Cell, owner: StateOwner, key: string): void {
    const { limit } = owner;
    // Resizing is much cheaper than removing and adding the key. The key stays queued for its old time, which is before the new
    // expiry. A sweep or an eviction corrects that.
    if (cell.address === NOWHERE) this.#add(cell, owner, key);
    else if (cell.open(cell.namespace, cell.address).size !== limit.stateSize) cell.resize(limit.stateSize);
    const { namespace } = cell;
    // The longest keep determines the grace of expired keys, and with it the position of the namespace.
    if (limit.keepMicros > namespace.lifecycle.keepMicros) {
      namespace.lifecycle = limit;
      this.namespaces.requeue(namespace);
    }
    this.#lives += 1;
    cell.numbers[cell.start + LIFE] = this.#lives;
    cell.isNew = false;
    limit.create(cell);
  }

  /** Queues a key that has changed by its expiry. Of a later one than at the lookup, only a sweep or an eviction takes notice. */
  save(cell: Cell, expiresMicros: number): void {
    if (expiresMicros < cell.expiresMicros) this.requeue(cell, expiresMicros);
  }

  private requeue(cell: Cell, expiresMicros: number): void {
    if (expiresMicros === -Infinity) this.namespaces.remove(cell);
    else if (cell.queueIndex === UNQUEUED) {
      this.#enqueue(cell, expiresMicros);
      if (this.used === 1) this.hasUnqueued = false; // No other key is in use.
    } else if (expiresMicros < cell.namespace.queue.microsAt(cell.queueIndex)) {
      this.namespaces.move(cell, expiresMicros);
    }
  }

  remove(owner: StateOwner, key: string): void {
    const cell = this.#findCell(owner, key);
    if (cell !== undefined) this.namespaces.remove(cell);
  }

  sweep(nowMicros: number, steps: number): boolean {
    if (this.hasUnqueued) this.end();
    this.used = 0; // The last operation is over, and its keys may expire.
    return this.#reclaimer.sweep(nowMicros, steps);
  }

  clear(): void {
    this.#idleSweep.stop();
    this.namespaces.clear();
    this.#slab.clear();
  }

  /** Iterates over all keys and their cells, also over expired ones. A cell is valid until the next step. */
  *cells(): Generator<readonly [key: string, cell: Cell]> {
    const cell = new Cell(this.#slab);
    for (const namespace of this.namespaces) {
      for (const [key, address] of namespace.addresses) yield [key, cell.open(namespace, address)];
    }
  }

  /** Returns the cell of a key, even if its state has expired. */
  #findCell(owner: StateOwner, key: string): Cell | undefined {
    const namespace = this.namespaces.of(owner);
    const address = namespace.addresses.get(key);
    if (address === undefined) return undefined;
    const cell = this.viewAt(this.used);
    this.used += 1;
    return cell.open(namespace, address);
  }

  private viewAt(index: number): Cell {
    if (index === this.views.length) this.views.push(new Cell(this.#slab));
    return this.views[index]!;
  }

  #add(cell: Cell, owner: StateOwner, key: string): void {
    this.#reclaimer.sweep(this.nowMicros, SWEEPS_PER_NEW_KEY);
    const found = cell.namespace.owner === owner ? cell.namespace : this.namespaces.of(owner);
    const namespace = found === NO_NAMESPACE ? new Namespace(owner.namespace, owner.limit, this.#slab) : found;
    this.#reclaimer.makeRoom(namespace, this.nowMicros);
    const ownKey = copyString(key);
    cell.allocate(namespace, ownKey, owner.limit.stateSize);
    cell.expiresMicros = Infinity;
    this.namespaces.add(cell, ownKey);
    this.hasUnqueued = true;
  }

  #enqueue(cell: Cell, micros: number): void {
    this.namespaces.enqueue(cell, micros);
    this.#idleSweep.start();
  }

  /** Takes a key out of its queue if the running operation uses it. */
  #keep(cell: Cell): boolean {
    const { address, key } = cell;
    let isUsed = false;
    for (let index = 0; index < this.used; index++) {
      const view = this.views[index]!;
      if (view.address !== address) continue;
      if (!isUsed) this.namespaces.dequeue(cell);
      isUsed = true;
      view.unqueue(key);
    }
    if (isUsed) this.hasUnqueued = true;
    return isUsed;
  }
}
