import { type Decision, type MemoryStore, RateLimiter } from '@rollgate/core';
import type { Keys, Plan } from '@rollgate/core/store';
import { TestClock } from '../../../store-conformance/src/test-clock.js';
import { captureCreditingPlan, capturePlan } from './capture-plan.js';
import type { StateObserver, StoreHit } from './observed-limit.js';
import { OracleState } from './oracle-state.js';
import { COST_COUNT, type PreparedScenario, STEP_BACK_MICROS } from './scenario.js';
import { decodeStep, type Step } from './steps.js';

/** A store whose methods return no promises. `close` empties it. */
export type ExploredStore = Pick<MemoryStore, 'check' | 'peek' | 'settle' | 'charge' | 'refund' | 'release' | 'reset' | 'close'> & { renewLeases?(receipts: readonly unknown[]): void }; // biome-ignore format: short

export type MakeStore = (clock: TestClock) => ExploredStore;

/**
 * A check that recorded something, and was not refunded. `hits` is empty if it was rejected, because a refund of it
 * changes nothing.
 */
export interface Refundable {
  readonly decision: Decision;
  readonly hits: readonly StoreHit[];
}

/** What the store keeps of one key. */
export interface KeptState {
  readonly life: number;
  /** A copy. It contains what the store knows of the limit that recorded last. */
  readonly state: unknown;
}

interface CallInput {
  readonly plan: Plan;
  /** A plan whose charges give units back. */
  readonly creditingPlan: Plan | undefined;
  readonly keys: Keys;
  readonly options: readonly { readonly cost: number; readonly limits: object }[];
}

/** The store's receipt of a decision with slots. */
function receiptOf(decision: Decision): unknown {
  return (decision as unknown as { [name: symbol]: { receipt: unknown } })[RECEIPT]!.receipt;
}

const RECEIPT = Symbol.for('@rollgate/core receipt');

/** Drives the shipped store through one history after the other. */
export class StoreUnderTest {
  readonly clock = new TestClock();
  /** In the order of `OracleState.receipts`. */
  refundable: Refundable[] = [];
  readonly #scenario: PreparedScenario;
  readonly #observer: StateObserver;
  readonly #store: ExploredStore;
  readonly #limiter: RateLimiter;
  readonly #startMicros: number;
  readonly #inputs: readonly CallInput[];
  /** The calls whose peeks together read every state. */
  readonly #readingCalls: readonly number[];

  constructor(scenario: PreparedScenario, observer: StateObserver, makeStore: MakeStore) {
    this.#scenario = scenario;
    this.#observer = observer;
    this.#startMicros = OracleState.start(scenario).nowMicros;
    this.#store = makeStore(this.clock);
    this.#limiter = new RateLimiter({ limits: null, store: this.#store });
    this.#inputs = scenario.calls.map(({ limits, keys, isBeyond }) => {
      const options = Array.from({ length: COST_COUNT }, (_, cost) => ({ cost, limits }));
      const creditingPlan = scenario.credits ? captureCreditingPlan(limits, keys, isBeyond) : undefined;
      return { ...capturePlan(limits, keys), creditingPlan, options };
    });
    const readIndexes = new Set<number>();
    this.#readingCalls = scenario.calls.flatMap(({ stateIndexes }, call) => {
      const isNew = stateIndexes.some((stateIndex) => !readIndexes.has(stateIndex));
      for (const stateIndex of stateIndexes) readIndexes.add(stateIndex);
      return isNew ? [call] : [];
    });
  }

  /** Empties the store, then takes these steps. */
  replay(history: ArrayLike<number>): void {
    this.#store.close();
    this.clock.micros = this.#startMicros;
    this.refundable = [];
    for (let index = 0; index < history.length; index++) this.take(decodeStep(history[index]!));
  }

  /** Takes one step. Returns the decision of a check, a peek or a charge. */
  take(step: Step): Decision | undefined {
    switch (step.kind) {
      case 'tick':
        this.clock.micros += step.micros;
        return undefined;
      case 'stepBack':
        this.clock.micros -= STEP_BACK_MICROS;
        return undefined;
      case 'check':
        return this.#check(step.call, step.cost);
      case 'peek':
        return this.peek(step.call, step.cost);
      case 'reset':
        this.#store.reset(this.#inputs[step.call]!.plan, this.#inputs[step.call]!.keys);
        return undefined;
      case 'refund':
        // The store refunds at once. The promise could only reject, which would end the process.
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
        return this.#store.charge(this.#inputs[step.call]!.plan, this.#inputs[step.call]!.keys, step.cost);
      case 'credit':
        return this.#store.charge(this.#inputs[step.call]!.creditingPlan!, this.#inputs[step.call]!.keys, step.cost);
    }
  }

  peek(call: number, cost: number): Decision {
    const { plan, keys } = this.#inputs[call]!;
    return this.#store.peek(plan, keys, cost);
  }

  /** Returns what the store keeps, by the index of the state. Changes nothing. */
  readStates(): (KeptState | undefined)[] {
    const keptStates: (KeptState | undefined)[] = this.#scenario.stateIds.map(() => undefined);
    for (let number = 0; number < this.#readingCalls.length; number++) {
      const call = this.#readingCalls[number]!;
      const { scenarioLimits, stateIndexes } = this.#scenario.calls[call]!;
      this.#observer.onPeekedState = (limitIndex, life, state) => {
        const index = scenarioLimits.length === 1 ? 0 : scenarioLimits.findIndex((one) => one.index === limitIndex);
        keptStates[stateIndexes[index]!] = { life, state };
      };
      this.peek(call, 1);
    }
    this.#observer.onPeekedState = undefined;
    return keptStates;
  }

  #renew(index: number): void {
    this.#observer.renewed.clear();
    const { decision, hits } = this.refundable[index]!;
    this.#store.renewLeases!([receiptOf(decision)]);
    // A lease that took its slots again belongs to another life.
    const renewed = hits.map((hit) => ({ ...hit, ...this.#observer.renewed.get(hit.limitIndex) }));
    this.refundable[index] = { decision, hits: renewed };
  }

  #check(call: number, cost: number): Decision {
    this.#observer.recorded = [];
    const { keys } = this.#scenario.calls[call]!;
    const decision = this.#limiter.decide(keys, this.#inputs[call]!.options[cost] as object) as Decision;
    if (this.#observer.recorded.length > 0) {
      this.refundable.push({ decision, hits: decision.allowed ? this.#observer.recorded : [] });
    }
    return decision;
  }
}
