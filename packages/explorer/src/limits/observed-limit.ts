import type { Limit, TokenBucket } from '@rollgate/core';
import {
  CHECK,
  type Hit,
  type LeaseKeepingLimit,
  type Mode,
  type ReservingLimit,
  reservesUnits,
  type State,
  TEST,
  type Verdict,
} from '@rollgate/core/store';

/** An action that a limit recorded. */
export interface StoreHit {
  readonly life: number;
  readonly limitIndex: number;
  readonly atMicros: number;
  readonly recordedMicros: number;
  readonly cost: number;
}

/** Collects what the limits of a store see of its state, which is private to the store. */
export class StateObserver {
  /** The actions recorded since a test emptied the list. */
  recorded: StoreHit[] = [];
  /** The new places of the leases renewed since a test emptied the map, by the index of their limit. */
  renewed = new Map<number, Pick<StoreHit, 'life' | 'atMicros'>>();
  /**
   * While this is set, limits call it with copies of the states that a peek finds, and with the lives of their keys. The
   * store takes these states for expired, so it does not change them.
   */
  onPeekedState: ((limitIndex: number, life: number, state: unknown) => void) | undefined;
}

/** Does what a shipped limit does, and reports to a `StateObserver`. */
export class ObservedLimit implements Limit {
  readonly algorithm: string;
  readonly limit: number;
  readonly windowMicros: number;
  readonly keepMicros: number;
  readonly countRejected: boolean;
  readonly enforced: boolean;
  readonly stateSize: number;
  readonly holdsSlots?: boolean;
  readonly testsOnly: boolean;
  readonly blockFor: ObservedLimit | undefined;
  declare readonly usageOf?: NonNullable<Limit['usageOf']>;
  /** Only a token bucket has these. */
  readonly tokens: number | undefined;
  readonly micros: number | undefined;
  declare readonly addPeriod?: NonNullable<Limit['addPeriod']>;
  declare readonly extend?: NonNullable<Limit['extend']>;
  declare readonly onLateReply?: NonNullable<Limit['onLateReply']>;
  /** Only limits with leases have these. */
  readonly leaseMicros?: number;
  readonly renew?: NonNullable<Limit['renew']>;
  readonly unusedId?: NonNullable<Limit['unusedId']>;
  readonly settle?: ReservingLimit['settle'];
  readonly createLeaseKeeper?: LeaseKeepingLimit['createLeaseKeeper'];
  readonly #inner: Limit;
  readonly #observer: StateObserver;
  readonly #index: number;

  /** @param index The index of the limit in the scenario. That of its block is the next one. */
  constructor(inner: Limit, observer: StateObserver, index: number) {
    this.algorithm = inner.algorithm;
    this.limit = inner.limit;
    this.windowMicros = inner.windowMicros;
    this.keepMicros = inner.keepMicros;
    this.countRejected = inner.countRejected;
    this.enforced = inner.enforced !== false;
    this.stateSize = inner.stateSize;
    this.testsOnly = inner.testsOnly === true;
    ({ tokens: this.tokens, micros: this.micros } = inner as Partial<TokenBucket>);
    this.#inner = inner;
    this.#observer = observer;
    this.#index = index;
    this.blockFor = inner.blockFor && new ObservedLimit(inner.blockFor, observer, index + 1);
    if (inner.usageOf) this.usageOf = (...decided) => inner.usageOf!(...decided);
    if (inner.addPeriod) {
      this.addPeriod = (...decided) => inner.addPeriod!(...decided);
      this.extend = (...credit) => inner.extend!(...credit);
    }
    if (!inner.leaseMicros) return;
    this.leaseMicros = inner.leaseMicros;
    this.onLateReply = inner.onLateReply!;
    this.renew = (state, nowMicros, hit) => this.#renew(state, nowMicros, hit);
    this.createLeaseKeeper = (...owner) => (inner as Limit as LeaseKeepingLimit).createLeaseKeeper(...owner);
    if (inner.holdsSlots) {
      this.holdsSlots = true;
      this.unusedId = (state, id) => inner.unusedId!(state, id);
    } else if (reservesUnits(inner)) {
      this.settle = (...settlement) => inner.settle(...settlement);
    }
  }

  create(state: State): void {
    this.#inner.create(state);
  }

  /** A store calls this first for each entry that it finds, and ignores an expired one. */
  expiresMicros(state: State): number {
    if (this.#observer.onPeekedState === undefined) return this.#inner.expiresMicros(state);
    this.#observer.onPeekedState(this.#index, lifeOf(state), this.describe(state));
    return -Infinity;
  }

  isIntact(state: State): boolean {
    return this.#inner.isIntact?.(state) ?? state.size >= this.stateSize;
  }

  isPlausible(state: State, nowMicros: number): boolean {
    return this.#inner.isPlausible(state, nowMicros);
  }

  describe(state: State): unknown {
    return this.#inner.describe(state);
  }

  apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    if (this.#observer.onPeekedState !== undefined) return;
    this.#inner.apply(state, nowMicros, cost, verdict, mode);
    // What closes a key is no action that a refund could return.
    if (mode === TEST || this.testsOnly) return;
    if (mode === CHECK && verdict.waitMicros > 0 && !this.countRejected) return;
    this.#observer.recorded.push({
      life: lifeOf(state),
      limitIndex: this.#index,
      atMicros: verdict.atMicros,
      recordedMicros: nowMicros,
      cost,
    });
  }

  refund(state: State, nowMicros: number, hit: Hit, kept: number): void {
    this.#inner.refund(state, nowMicros, hit, kept);
  }

  #renew(state: State, nowMicros: number, hit: Hit): boolean {
    const isRenewed = this.#inner.renew!(state, nowMicros, hit);
    if (isRenewed) this.#observer.renewed.set(this.#index, { life: lifeOf(state), atMicros: hit.atMicros });
    return isRenewed;
  }
}

/** A `MemoryStore` passes a view of its entry, which knows the life of its key. */
function lifeOf(state: State): number {
  return (state as State & { readonly life: number }).life;
}
