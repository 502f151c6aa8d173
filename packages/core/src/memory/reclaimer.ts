import { emitWarning } from '../util/platform.js';
import { Cell } from './cell.js';
import type { Namespace } from './namespace.js';
import type { Namespaces } from './namespaces.js';
import type { Slab } from './slab.js';

/** How many keys an eviction queues for their true expiry. A check must not wait for all that have been hit again. */
const MOST_DEFERRALS = 16;

/** How many keys a search for an implausible one looks at. */
const PLAUSIBILITY_TESTS = 16;

/** Drops expired keys, and evicts others from a full store. Each call takes a bounded number of steps. */
export class Reclaimer {
  readonly #namespaces: Namespaces;
  readonly #keep: (cell: Cell) => boolean;
  readonly #cell: Cell;
  #hasWarned = false;

  /** @param keep Takes a key out of its queue if the running operation uses it. Returns whether it does. */
  constructor(namespaces: Namespaces, slab: Slab, keep: (cell: Cell) => boolean) {
    this.#namespaces = namespaces;
    this.#keep = keep;
    this.#cell = new Cell(slab);
  }

  /** Drops keys whose grace is over, in at most `steps` steps. Returns whether any may be left. */
  sweep(nowMicros: number, steps: number): boolean {
    for (let step = 0; step < steps; step++) {
      const namespace = this.#namespaces.first;
      if (namespace === undefined || namespace.priority > nowMicros) return false;
      const cell = this.#openFirst(namespace);
      const expiresMicros = namespace.lifecycle.expiresMicros(cell);
      if (expiresMicros > namespace.queue.microsAt(0)) this.#namespaces.move(cell, expiresMicros);
      else this.#drop(cell);
    }
    return true;
  }

  /**
   * Evicts keys until there is room for one of this namespace, or only keys of the running operation are left.
   *
   * An implausible key goes first, because its expiry is far away and it limits nothing. Then goes the key that expires
   * first. If many keys have been hit since they were queued, it is the first to expire of some of them.
   */
  makeRoom(namespace: Namespace, nowMicros: number): void {
    while (this.#namespaces.isFull) {
      const source = this.#namespaces.findEvictionSource(namespace);
      if (source === undefined) return;
      this.#drop(this.#findImplausible(source, nowMicros) ?? this.#findFirst(source));
      if (!this.#hasWarned) warnOfFullStore(this.#namespaces.maxKeys);
      this.#hasWarned = true;
    }
  }

  /** Looks at some keys, and at others the next time. So it finds implausible ones while they are many. */
  #findImplausible(namespace: Namespace, nowMicros: number): Cell | undefined {
    const { queue, lifecycle } = namespace;
    const latestMicros = nowMicros + lifecycle.keepMicros;
    const tests = Math.min(PLAUSIBILITY_TESTS, queue.size);
    for (let test = 0; test < tests; test++) {
      const index = namespace.nextTested();
      if (queue.microsAt(index) <= latestMicros) continue; // It is certainly plausible.
      const cell = this.#cell.open(namespace, queue.addressAt(index));
      if (!lifecycle.isPlausible(cell, nowMicros)) return cell;
    }
    return undefined;
  }

  #drop(cell: Cell): void {
    if (!this.#keep(cell)) this.#namespaces.remove(cell);
  }

  #findFirst(namespace: Namespace): Cell {
    const { queue, lifecycle } = namespace;
    let firstMicros = Infinity;
    let firstAddress = queue.addressAt(0);
    for (let step = 0; step < MOST_DEFERRALS; step++) {
      const cell = this.#openFirst(namespace);
      const expiresMicros = lifecycle.expiresMicros(cell);
      if (expiresMicros <= queue.microsAt(0)) return cell;
      if (expiresMicros < firstMicros) {
        firstMicros = expiresMicros;
        firstAddress = cell.address;
      }
      this.#namespaces.move(cell, expiresMicros);
    }
    return this.#cell.open(namespace, firstAddress);
  }

  #openFirst(namespace: Namespace): Cell {
    return this.#cell.open(namespace, namespace.queue.addressAt(0));
  }
}

function warnOfFullStore(maxKeys: number): void {
  emitWarning(
    `A MemoryStore is full: it holds ${maxKeys} keys (\`maxKeys\`). Each new key now evicts the one nearest to its expiry, of the same limit or of a limit with more than its share of the keys. An evicted key starts with its full quota`,
    { type: 'RollgateWarning', code: 'ROLLGATE_KEYS_EVICTED' },
  );
}
