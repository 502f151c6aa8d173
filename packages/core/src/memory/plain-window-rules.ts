import type { Plan } from '../plan/plan.js';
import type { KeyTable } from './key-table.js';
import { hasPlainWindowRule, PlainWindowRule } from './plain-window-rule.js';

/** The plain windows of a store, by the plans that consist of one. */
export class PlainWindowRules {
  readonly #table: KeyTable;
  /** A plan gets its rule at its second use, because some apps create a plan for each check. */
  readonly #rules = new WeakMap<Plan, PlainWindowRule | 'none' | 'used once'>();
  /** The plan of the last check, and its rule. Most stores have only one plan. */
  #plan: Plan | undefined;
  #rule: PlainWindowRule | undefined;

  constructor(table: KeyTable) {
    this.#table = table;
  }

  /** Returns the plan's plain window. Returns `undefined` at its first use, or if it has several rules or another limit. */
  of(plan: Plan): PlainWindowRule | undefined {
    return plan === this.#plan ? this.#rule : this.#turnTo(plan);
  }

  #turnTo(plan: Plan): PlainWindowRule | undefined {
    let found = this.#rules.get(plan);
    if (found === undefined) {
      this.#rules.set(plan, 'used once');
      return undefined;
    }
    if (found === 'used once') {
      found = this.#create(plan);
      this.#rules.set(plan, found);
    }
    this.#plan = plan;
    this.#rule = found === 'none' ? undefined : found;
    return this.#rule;
  }

  #create({ rules }: Plan): PlainWindowRule | 'none' {
    const [rule] = rules;
    return rules.length === 1 && hasPlainWindowRule(rule!.limit) ? new PlainWindowRule(rule!, this.#table) : 'none';
  }
}
