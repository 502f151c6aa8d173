import type { Decision } from '@rollgate/core';
import type { Costs, Keys, Plan, SettledCosts } from '@rollgate/core/store';
import { StoreHealth } from '../../../core/src/failure/store-health.js';
import { monotonicClock, readMicros } from '../../../core/src/time/clock.js';
import { assertSame } from '../../../store-conformance/src/assert-same.js';
import { toPlainDecision } from '../../../store-conformance/src/expected-decision.js';
import { type ModelReceipt, ReferenceModel } from '../../../store-conformance/src/reference-model.js';
import type { Subject } from './call-records.js';
import type { ObservedStore } from './observed-store.js';

/** Compares the fallback memory with a separate model. */
export class FallbackMemory {
  readonly #model = new ReferenceModel();
  /** What each decision recorded, by its `limits`, which a limiter passes on unchanged. */
  readonly #receipts = new WeakMap<object, ModelReceipt>();

  constructor(store: ObservedStore, onDifference: (error: unknown) => void) {
    const { fallback } = StoreHealth.of(store);
    const originals = { check: fallback.check, peek: fallback.peek, charge: fallback.charge };
    const decide = (kind: keyof typeof originals) => (plan: Plan, keys: Keys, costs: Costs) => {
      const decision = originals[kind].call(fallback, plan, keys, costs);
      try {
        const subject = store.subjectOf(plan, keys);
        const expected =
          kind === 'charge'
            ? { decision: this.#model.charge(subject.specs, subject.keys, costs, nowMicros()), receipt: [] }
            : this.#model.check(subject.specs, subject.keys, costs, nowMicros(), kind === 'check');
        this.#receipts.set(decision.limits, expected.receipt);
        assertSame(
          toPlainDecision(decision),
          expected.decision,
          () => `Expected the memory to decide as the model: ${kind}`,
        );
      } catch (error) {
        onDifference(error);
      }
      return decision;
    };
    fallback.check = decide('check');
    fallback.peek = decide('peek');
    fallback.charge = decide('charge');
  }

  /** Expects the memory to settle what it recorded for this decision. */
  settle({ limits }: Decision, costs: SettledCosts): void {
    this.#model.settle(this.#receipts.get(limits) ?? [], costs, nowMicros());
  }

  /** Expects the memory to drop these keys. */
  reset({ specs, keys }: Subject): void {
    this.#model.reset(specs, keys);
  }

  /** Whether it made this decision. */
  hasDecided({ limits }: Decision): boolean {
    return this.#receipts.has(limits);
  }
}

function nowMicros(): number {
  return readMicros(monotonicClock);
}
