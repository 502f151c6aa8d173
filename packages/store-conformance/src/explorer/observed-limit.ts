import type { Limit } from '@rollgate/core';
import {
  type Hit,
  holdsSlots,
  type LeasingLimit,
  type SlotLimit,
  type State,
  type Verdict,
} from '@rollgate/core/store';

/** A recorded action, as the limit saw it. */
export interface StoreHit {
  readonly life: number;
  readonly ruling: number;
  readonly atMicros: number;
  readonly recordedMicros: number;
  readonly cost: number;
}

/** Collects what the limits of a store see of its state, which is private otherwise. */
export class StateObserver {
  /** What was recorded since this was emptied. */
  recorded: StoreHit[] = [];
  /** Where the leases are that were renewed since this was emptied, by the index of their limit. */
  renewed = new Map<number, Pick<StoreHit, 'life' | 'atMicros'>>();
  /**
   * While this is set, limits pass it copies of the states that a peek finds, and the lives of their keys. To the store,
   * these states look expired, so it leaves them alone.
   */
  looking: ((name: string, life: number, state: unknown) => void) | undefined;
}

/** Does what a shipped limit does, and reports to a `StateObserver`. */
export class ObservedLimit implements Limit {
  readonly algorithm: string;
  readonly limit: number;
  readonly windowMicros: number;
  readonly keepMicros: number;
  readonly countRejected: boolean;
  readonly stateSize: number;
  readonly holdsSlots?: boolean;
  /** Only limits whose slots are leases have these. */
  readonly renew?: LeasingLimit['renew'];
  readonly unusedId?: LeasingLimit['unusedId'];
  readonly createSlotKeeper?: SlotLimit['createSlotKeeper'];
  readonly #inner: Limit;
  readonly #watch: StateObserver;
  readonly #index: number;
  readonly #name: string;

  constructor(inner: Limit, watch: StateObserver, index: number, name: string) {
    this.algorithm = inner.algorithm;
    this.limit = inner.limit;
    this.windowMicros = inner.windowMicros;
    this.keepMicros = inner.keepMicros;
    this.countRejected = inner.countRejected;
    this.stateSize = inner.stateSize;
    this.#inner = inner;
    this.#watch = watch;
    this.#index = index;
    this.#name = name;
    if (!holdsSlots(inner)) return;
    this.holdsSlots = true;
    this.renew = (state, nowMicros, hit) => this.#renew(inner, state, nowMicros, hit);
    this.unusedId = (state, id) => inner.unusedId(state, id);
    this.createSlotKeeper = (...owner) => (inner as SlotLimit).createSlotKeeper(...owner);
  }

  create(state: State): void {
    this.#inner.create(state);
  }

  /** A store calls this first for each entry that it finds. It ignores an expired one. */
  expiresMicros(state: State): number {
    if (this.#watch.looking === undefined) return this.#inner.expiresMicros(state);
    this.#watch.looking(this.#name, lifeOf(state), this.describe(state));
    return -Infinity;
  }

  isPlausible(state: State, nowMicros: number): boolean {
    return this.#inner.isPlausible(state, nowMicros);
  }

  describe(state: State): unknown {
    return this.#inner.describe(state);
  }

  test(state: State, nowMicros: number, cost: number, verdict: Verdict): void {
    if (this.#watch.looking === undefined) this.#inner.test(state, nowMicros, cost, verdict);
  }

  record(state: State, nowMicros: number, cost: number, verdict: Verdict): void {
    const { atMicros } = verdict;
    this.#watch.recorded.push({ life: lifeOf(state), ruling: this.#index, atMicros, recordedMicros: nowMicros, cost });
    this.#inner.record(state, nowMicros, cost, verdict);
  }

  refund(state: State, nowMicros: number, hit: Hit, kept: number): void {
    this.#inner.refund(state, nowMicros, hit, kept);
  }

  #renew(inner: LeasingLimit, state: State, nowMicros: number, hit: Hit): boolean {
    const isHeld = inner.renew(state, nowMicros, hit);
    if (isHeld) this.#watch.renewed.set(this.#index, { life: lifeOf(state), atMicros: hit.atMicros });
    return isHeld;
  }
}

/** A `MemoryStore` passes a view of its entry, which knows the life of its key. */
function lifeOf(state: State): number {
  return (state as State & { readonly life: number }).life;
}
