import { type Decision, type MemoryStore, RateLimiter } from '@rollgate/core';
import type { Keys, Plan } from '@rollgate/core/store';
import { TestClock } from '../test-clock.js';
import { createPlan } from './capture-plan.js';
import type { StateObserver, StoreHit } from './observed-limit.js';
import { OracleState } from './oracle-state.js';
import { BACK_MICROS, type Ready } from './scenario.js';
import { type Step, stepOf } from './steps.js';

/** A store without promises. `close` makes it like new. */
export type ExploredStore = Pick<MemoryStore, 'check' | 'peek' | 'settle' | 'charge' | 'refund' | 'release' | 'reset' | 'close'> & { renewLeases?(receipts: readonly unknown[]): void }; // biome-ignore format: short

/** Makes the store to explore. */
export type MakeStore = (clock: TestClock) => ExploredStore;

/**
 * A check that recorded something, and was not refunded. `hits` is empty when it was rejected: then a refund changes
 * nothing.
 */
export interface Refundable {
  readonly decision: Decision;
  readonly hits: readonly StoreHit[];
}

/** What the store keeps of one key. */
export interface Kept {
  readonly life: number;
  /** A copy. It contains what the store knows of the limit that recorded last. */
  readonly state: unknown;
}

interface Asked {
  readonly plan: Plan;
  readonly keys: Keys;
  readonly options: readonly { readonly cost: number; readonly limits: object }[];
}

/** The store's receipt of a decision with slots. */
function receiptOf(decision: Decision): unknown {
  const take = (decision as unknown as { [name: symbol]: (left?: unknown) => { receipt: unknown } })[TAKE_RECEIPT]!;
  const held = take.call(decision);
  take.call(decision, held);
  return held.receipt;
}

const TAKE_RECEIPT = Symbol.for('@rollgate/core takeReceipt');

/** Drives the shipped store through one history after the other. */
export class StoreUnderTest {
  readonly clock = new TestClock();
  /** In the order of the truth's receipts. */
  refundable: Refundable[] = [];
  readonly #ready: Ready;
  readonly #watch: StateObserver;
  readonly #store: ExploredStore;
  readonly #limiter: RateLimiter;
  readonly #startMicros: number;
  readonly #asked: readonly Asked[];
  /** The calls that together reach every place. */
  readonly #lookers: readonly number[];

  constructor(ready: Ready, watch: StateObserver, makeStore: MakeStore) {
    this.#ready = ready;
    this.#watch = watch;
    this.#startMicros = OracleState.start(ready).nowMicros;
    this.#store = makeStore(this.clock);
    this.#limiter = new RateLimiter({ limits: null, store: this.#store });
    this.#asked = ready.calls.map(({ limits, keys }) => {
      const options = Array.from({ length: 10 }, (_, cost) => ({ cost, limits }));
      return { ...createPlan(limits, keys), options };
    });
    const reached = new Set<number>();
    this.#lookers = ready.calls.flatMap(({ places }, call) => {
      const isNew = places.some((place) => !reached.has(place));
      for (const place of places) reached.add(place);
      return isNew ? [call] : [];
    });
  }

  /** Forgets everything, then takes these steps. */
  replay(row: ArrayLike<number>): void {
    this.#store.close();
    this.clock.micros = this.#startMicros;
    this.refundable = [];
    for (let index = 0; index < row.length; index++) this.take(stepOf(row[index]!));
  }

  /** Takes one step. Returns the decision of a check or a peek. */
  take(step: Step): Decision | undefined {
    switch (step.kind) {
      case 'tick':
        this.clock.micros += step.micros;
        return undefined;
      case 'back':
        this.clock.micros -= BACK_MICROS;
        return undefined;
      case 'check':
        return this.#check(step.call, step.cost);
      case 'peek':
        return this.peek(step.call, step.cost);
      case 'reset':
        this.#store.reset(this.#asked[step.call]!.plan, this.#asked[step.call]!.keys);
        return undefined;
      case 'refund':
        // The store refunds at once. The promise carries nothing but an error, which ends the process.
        void this.#limiter.refund(this.refundable.splice(step.receipt, 1)[0]!.decision);
        return undefined;
      case 'settle':
        void this.#limiter.settle(this.refundable.splice(step.receipt, 1)[0]!.decision, { cost: step.cost });
        return undefined;
      case 'release':
        void this.#limiter.release(this.refundable.splice(step.receipt, 1)[0]!.decision);
        return undefined;
      case 'renew':
        this.#renew(step.receipt);
        return undefined;
      case 'charge':
        return this.#store.charge(this.#asked[step.call]!.plan, this.#asked[step.call]!.keys, step.cost);
    }
  }

  peek(call: number, cost: number): Decision {
    const { plan, keys } = this.#asked[call]!;
    return this.#store.peek(plan, keys, cost);
  }

  /** What the store keeps, by place. Changes nothing. */
  look(): (Kept | undefined)[] {
    const kept = new Array<Kept | undefined>(this.#ready.placeCount).fill(undefined);
    for (let index = 0; index < this.#lookers.length; index++) {
      const looker = this.#lookers[index]!;
      const { rulings, places } = this.#ready.calls[looker]!;
      this.#watch.looking = (name, life, state) => {
        const rule = rulings.length === 1 ? 0 : rulings.findIndex((own) => own.name === name);
        kept[places[rule]!] = { life, state };
      };
      this.peek(looker, 1);
    }
    this.#watch.looking = undefined;
    return kept;
  }

  #renew(index: number): void {
    this.#watch.renewed.clear();
    const { decision, hits } = this.refundable[index]!;
    this.#store.renewLeases!([receiptOf(decision)]);
    // A lease that was taken again is in another life.
    const moved = hits.map((hit) => ({ ...hit, ...this.#watch.renewed.get(hit.ruling) }));
    this.refundable[index] = { decision, hits: moved };
  }

  #check(call: number, cost: number): Decision {
    this.#watch.recorded = [];
    const { keys } = this.#ready.calls[call]!;
    const decision = this.#limiter.decide(keys, this.#asked[call]!.options[cost] as object) as Decision;
    if (this.#watch.recorded.length > 0) {
      this.refundable.push({ decision, hits: decision.allowed ? this.#watch.recorded : [] });
    }
    return decision;
  }
}
