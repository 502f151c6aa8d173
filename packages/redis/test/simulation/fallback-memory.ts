import type { Decision } from '@rollgate/core';
import type { Keys, Plan } from '@rollgate/core/store';
import { monotonicClock, readMicros } from '../../../core/src/clock.js';
import { StoreHealths } from '../../../core/src/failure/store-health.js';
import { Model, type ModelReceipt } from '../../../store-conformance/src/model.js';
import { same } from '../../../store-conformance/src/same.js';
import { plain } from '../../../store-conformance/src/whole-decision.js';
import type { ObservedStore } from './observed-store.js';

/** The memory that decides while a store fails, compared with its own model. */
export class FallbackMemory {
  /** The decision that the next refund takes back. */
  refunding: Decision | undefined;
  readonly #model = new Model();
  /** What each decision recorded, by its limits: a limiter returns the same ones. */
  readonly #receipts = new WeakMap<object, ModelReceipt>();

  constructor(store: ObservedStore, onDifference: (error: unknown) => void) {
    const { fallback } = StoreHealths.of(store);
    const { check, peek, refund, reset } = fallback;
    const ask = (kind: 'check' | 'peek') => (plan: Plan, keys: Keys, cost: number) => {
      const decision = (kind === 'check' ? check : peek).call(fallback, plan, keys, cost);
      try {
        const subject = store.subjectOf(plan, keys);
        const expected = this.#model.check(subject.specs, subject.keys, cost, nowMicros(), kind === 'check');
        this.#receipts.set(decision.limits, expected.receipt);
        same(plain(decision), expected.decision, () => `Expected the memory to decide as the model: ${kind}`);
      } catch (error) {
        onDifference(error);
      }
      return decision;
    };
    fallback.check = ask('check');
    fallback.peek = ask('peek');
    fallback.refund = (receipt: unknown) => {
      this.#model.refund(this.#receipts.get(this.refunding!.limits)!, nowMicros());
      refund.call(fallback, receipt);
    };
    fallback.reset = (plan: Plan, keys: Keys) => {
      const subject = store.subjectOf(plan, keys);
      this.#model.reset(subject.specs, subject.keys);
      reset.call(fallback, plan, keys);
    };
  }

  /** Whether it made this decision. */
  made({ limits }: Decision): boolean {
    return this.#receipts.has(limits);
  }
}

function nowMicros(): number {
  return readMicros(monotonicClock);
}
