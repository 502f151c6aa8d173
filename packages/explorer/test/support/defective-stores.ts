import { MemoryStore } from '@rollgate/core';
import type { Costs, Keys, Plan } from '@rollgate/core/store';
import type { TestClock } from '../../../store-conformance/src/test-clock.js';

/** A correct `MemoryStore`. Each class below breaks it in one way that a test of a few steps may miss. */
class Store extends MemoryStore {
  constructor(protected readonly testClock: TestClock) {
    super({ clock: testClock });
  }
}

/** Decides correctly, and records a microsecond late. */
export class RecordsLate extends MemoryStore {
  readonly #late: { micros: number };

  constructor(clock: TestClock) {
    const late = { micros: 0 };
    super({ clock: { now: () => clock.now() + late.micros / 1000 } });
    this.#late = late;
  }

  override check(plan: Plan, keys: Keys, cost: number) {
    this.#late.micros = 1;
    const decision = super.check(plan, keys, cost);
    this.#late.micros = 0;
    return decision;
  }
}

export class LosesTheSecondRefund extends Store {
  #refunds = 0;

  override refund(receipt: unknown): void {
    this.#refunds += 1;
    if (this.#refunds !== 2) super.refund(receipt);
  }

  override close(): void {
    this.#refunds = 0;
    super.close();
  }
}

/** Treats all keys of a limit as one. */
export class MergesKeys extends Store {
  override check(plan: Plan, keys: Keys, cost: number) {
    return super.check(plan, mergeKeys(keys), cost);
  }

  override peek(plan: Plan, keys: Keys, cost: number) {
    return super.peek(plan, mergeKeys(keys), cost);
  }
}

const mergeKeys = (keys: Keys): Keys => (typeof keys === 'string' ? 'key' : keys.map(() => 'key'));

/** Adds no units to a period. */
export class AddsNoUnits extends Store {
  override charge(plan: Plan, keys: Keys, costs: Costs) {
    const { givesBack } = plan.rules[0]!.limit as { givesBack?: string };
    return givesBack === 'beyond' ? this.peek(plan, keys, 1) : super.charge(plan, keys, costs);
  }
}

export class IgnoresResets extends Store {
  override reset(): void {}
}

/** Opens no key that `blockFor` has closed. */
export class KeepsBlocks extends Store {
  override reset(plan: Plan, keys: Keys): void {
    super.reset({ ...plan, rules: plan.rules.filter(({ limit }) => limit.algorithm !== 'block') }, keys);
  }
}

/** Lets a peek close the key. */
export class ClosesOnPeeks extends Store {
  override peek(plan: Plan, keys: Keys, cost: number) {
    const decision = super.peek(plan, keys, cost);
    if (!decision.allowed) super.check(plan, keys, cost);
    return decision;
  }
}

/** Records a peek of cost 2. */
export class RecordsPeeks extends Store {
  override peek(plan: Plan, keys: Keys, cost: number) {
    const decision = super.peek(plan, keys, cost);
    if (cost === 2) super.check(plan, keys, cost);
    return decision;
  }
}

/** Drops the key when a check finds the clock set back. */
export class DropsKeyAfterClockStep extends Store {
  #highest = 0;

  override check(plan: Plan, keys: Keys, cost: number) {
    if (this.testClock.micros < this.#highest) super.reset(plan, keys);
    this.#highest = this.testClock.micros;
    return super.check(plan, keys, cost);
  }

  override close(): void {
    this.#highest = 0;
    super.close();
  }
}

/** Drops the key when a check is in the last microsecond of a millisecond. */
export class DropsKeyBeforeBoundaries extends Store {
  override check(plan: Plan, keys: Keys, cost: number) {
    if (this.testClock.micros % 1000 === 999) super.reset(plan, keys);
    return super.check(plan, keys, cost);
  }
}

/** Drops what a check of several limits recorded in the first of them. */
export class DropsFirstOfTwo extends Store {
  override check(plan: Plan, keys: Keys, cost: number) {
    const decision = super.check(plan, keys, cost);
    if (plan.rules.length > 1) super.reset({ ...plan, rules: plan.rules.slice(0, 1) }, keys);
    return decision;
  }
}

/** Has room for the keys of one limit only. */
export class DropsPreviousLimit extends Store {
  #before: { plan: Plan; keys: Keys } | undefined;

  override check(plan: Plan, keys: Keys, cost: number) {
    const before = this.#before;
    if (before !== undefined && before.plan.rules[0]!.namespace !== plan.rules[0]!.namespace)
      super.reset(before.plan, before.keys);
    this.#before = { plan, keys };
    return super.check(plan, keys, cost);
  }

  override close(): void {
    this.#before = undefined;
    super.close();
  }
}
