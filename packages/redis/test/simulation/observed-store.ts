import type { Awaitable, Decision, Limit, Store } from '@rollgate/core';
import { type Costs, isThenable, type Keys, type Plan, type SettledCosts, settledCost } from '@rollgate/core/store';
import type { LimitSpec } from '../../../store-conformance/src/algorithms.js';
import type { StoreCall, Subject } from './call-records.js';
import type { VirtualTime } from './virtual-time.js';

/** A receipt of the store. */
interface Receipt {
  readonly encodedPlan: { readonly plan: Plan };
  readonly hits: readonly { readonly index: number; readonly cost: number }[];
}

/** The options of {@link ObservedStore}. */
export interface ObservedStoreOptions {
  readonly time: VirtualTime;
  readonly inner: Store;
  /** Whether the client may resend commands, so that refunds have one more key. */
  readonly resends: boolean;
  readonly specOf: (limit: Limit) => LimitSpec;
  /** Called before each call of the store. */
  readonly onCall: (call: StoreCall) => void;
  /** Called with the result or failure before the limiter gets it. */
  readonly onSettled: (call: StoreCall) => void;
}

type DecisionCall = { kind: 'check' | 'peek' | 'charge'; plan: Plan; keys: Keys; costs: Costs };

/** Passes all calls to a store, and records them. */
export class ObservedStore implements Store {
  /** The check that the next refund or settlement changes. */
  checkToSettle: StoreCall | undefined;

  constructor(private readonly options: ObservedStoreOptions) {}

  check(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    return this.#decide({ kind: 'check', plan, keys, costs });
  }

  peek(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    return this.#decide({ kind: 'peek', plan, keys, costs });
  }

  refund(receipt: unknown): Awaitable<void> {
    return this.#settle('refund', receipt as Receipt, 0, () => this.options.inner.refund(receipt));
  }

  settle(receipt: unknown, costs: SettledCosts): Awaitable<void> {
    return this.#settle('settle', receipt as Receipt, costs, () => this.options.inner.settle!(receipt, costs));
  }

  charge(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    return this.#decide({ kind: 'charge', plan, keys, costs });
  }

  reset(plan: Plan, keys: Keys): Awaitable<void> {
    const call = this.#begin({ kind: 'reset', subject: this.subjectOf(plan, keys), keyCount: plan.rules.length });
    return this.#watch(call, this.options.inner.reset(plan, keys));
  }

  subjectOf({ rules }: Plan, keys: Keys): Subject {
    const { specOf } = this.options;
    const keyOf = (index: number) => (typeof keys === 'string' ? keys : keys[index]!);
    return {
      specs: Object.fromEntries(rules.map(({ name, limit }) => [name, specOf(limit)])),
      keys: Object.fromEntries(rules.map(({ name }, index) => [name, keyOf(index)])),
    };
  }

  #settle(
    kind: 'refund' | 'settle',
    receipt: Receipt,
    costs: SettledCosts,
    run: () => Awaitable<void>,
  ): Awaitable<void> {
    const { subject, costs: recorded } = this.checkToSettle!;
    const { rules } = receipt.encodedPlan.plan;
    const changed = receipt.hits.filter(({ index, cost }) => (settledCost(costs, rules[index]!) ?? cost) !== cost);
    const keyCount = changed.length === 0 ? 0 : changed.length + this.#markCount;
    const call = this.#begin({
      kind,
      subject,
      costs: recorded,
      keyCount,
      settledCheck: this.checkToSettle,
      settledCosts: costs,
    });
    return this.#watch(call, run());
  }

  /** The number of additional keys of an operation that must not run twice. */
  get #markCount(): number {
    return this.options.resends ? 1 : 0;
  }

  #decide({ kind, plan, keys, costs }: DecisionCall): Awaitable<Decision> {
    const keyCount = plan.rules.length + (kind === 'charge' ? this.#markCount : 0);
    const call = this.#begin({ kind, subject: this.subjectOf(plan, keys), costs, keyCount });
    return this.#watch(call, this.options.inner[kind]!(plan, keys, costs));
  }

  #begin(fields: Pick<StoreCall, 'kind' | 'subject' | 'keyCount'> & Partial<StoreCall>): StoreCall {
    const call: StoreCall = {
      costs: 0,
      settledCheck: undefined,
      settledCosts: 0,
      startedMicros: this.options.time.micros,
      settledMicros: undefined,
      decision: undefined,
      error: undefined,
      isFromCache: false,
      indexInMessage: -1,
      execution: undefined,
      ...fields,
    };
    this.options.onCall(call);
    return call;
  }

  #watch<Result>(call: StoreCall, result: Awaitable<Result>): Awaitable<Result> {
    const settle = (outcome: Partial<StoreCall>) => {
      Object.assign(call, outcome, { settledMicros: this.options.time.micros });
      this.options.onSettled(call);
    };
    if (isThenable(result)) {
      result.then(
        (value) => settle({ decision: value as Decision }),
        (error) => settle({ error }),
      );
    } else {
      settle({ decision: result as Decision, isFromCache: true });
    }
    return result;
  }
}
