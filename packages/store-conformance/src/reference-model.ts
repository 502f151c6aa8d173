import type { Decision } from '@rollgate/core';
import { type Costs, costAt } from '@rollgate/core/store';
import { blockOracleOf, type LimitSpec, oracleOf } from './algorithms.js';
import { LimitModel } from './limit-model.js';
import { type LimitOnKey, type Recorded, stateIdOf } from './model-states.js';

export type LimitSpecs = Readonly<Record<string, LimitSpec>>;

/** The records of a check for each limit, or for those that record rejected attempts. */
export type ModelReceipt = readonly Recorded[];

export class ReferenceModel extends LimitModel<LimitOnKey> {
  readonly #leasesEnd: boolean;

  /** @param leasesEnd Whether leases in the store end. */
  constructor(leasesEnd = false) {
    super();
    this.#leasesEnd = leasesEnd;
  }

  /** Decides at `now`, in microseconds. With `records` as `check` does, without as `peek`. */
  check(specs: LimitSpecs, keys: Readonly<Record<string, string>>, costs: Costs, now: number, records: boolean) {
    const verdict = this.decide(this.#withBlocks(specs, keys, costs), now, records);
    return { decision: this.describe(verdict), receipt: verdict.receipt };
  }

  /** Records without deciding. Returns the decision of a peek right after. */
  charge(specs: LimitSpecs, keys: Readonly<Record<string, string>>, costs: Costs, now: number): Decision {
    this.overdraw(this.#limitsOnKeys(specs, keys, costs), now);
    return this.check(specs, keys, 1, now, false).decision;
  }

  /** Gives units of limits that have some to give back, or have periods. Returns the decision of a peek right after. */
  credit(
    specs: LimitSpecs,
    keys: Readonly<Record<string, string>>,
    { units, beyond }: { readonly units: number; readonly beyond: boolean },
    now: number,
  ): Decision {
    const limits = this.#limitsOnKeys(specs, keys, 1);
    if (beyond) this.extend(limits, units, now);
    else this.giveBack(limits, units, now);
    return this.check(specs, keys, 1, now, false).decision;
  }

  reset(specs: LimitSpecs, keys: Readonly<Record<string, string>>): void {
    for (const { stateId } of this.#withBlocks(specs, keys, 1)) this.states.delete(stateId);
  }

  /** The limits, each before what its option `blockFor` closes its keys with. */
  #withBlocks(specs: LimitSpecs, keys: Readonly<Record<string, string>>, costs: Costs): LimitOnKey[] {
    return this.#limitsOnKeys(specs, keys, costs).flatMap((one) => {
      const oracle = blockOracleOf(specs[one.name]!);
      const stateId = stateIdOf(one.name, { algorithm: 'block' }, keys);
      return oracle ? [one, { ...one, oracle, stateId, blocksFor: one }] : [one];
    });
  }

  #limitsOnKeys(specs: LimitSpecs, keys: Readonly<Record<string, string>>, costs: Costs): LimitOnKey[] {
    return Object.entries(specs).map(([name, spec], index) => {
      const oracle = oracleOf(spec, this.#leasesEnd);
      const isEnforced = spec.enforce !== false;
      return { name, cost: costAt(costs, index), oracle, stateId: stateIdOf(name, spec, keys), isEnforced };
    });
  }
}
