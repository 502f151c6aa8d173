import { unboxed } from '../base/unboxed.js';
import { grow } from '../limits/hit-ring.js';
import type { Plan, Rule } from '../plan/plan.js';
import type { KeyTable } from './key-table.js';
import type { Slab } from './slab.js';

/**
 * The only rule of a plan, at one `MemoryStore`, if it is a rolling window without special options. `usual-check.ts`
 * decides by it. It copies the numbers of its limit, because V8 reads them faster from objects of one class.
 */
export class UsualRule {
  readonly name: string;
  readonly limit: number;
  readonly windowMicros: number;
  readonly windowMs: number;
  readonly slab: Slab;
  /** The addresses of the rule's keys. {@link findAddresses} replaces them. */
  addresses: ReadonlyMap<string, number>;

  constructor(
    readonly rule: Rule,
    readonly table: KeyTable,
  ) {
    const { limit, windowMicros } = rule.limit;
    this.name = rule.name;
    this.limit = limit;
    this.windowMicros = windowMicros;
    this.windowMs = unboxed(windowMicros / 1000);
    this.slab = table.slab;
    this.addresses = table.addressesOf(rule.namespace);
  }

  /** Call it when a key is missing. Once all keys of the rule are gone, the table may use another map. */
  findAddresses(): void {
    this.addresses = this.table.addressesOf(this.rule.namespace);
  }

  /** Makes room for more hits in the full log of a key. Returns the key's new address. */
  growLog(key: string, address: number): number {
    const log = this.table.open(this.rule.namespace, key, address);
    grow(log, this.limit);
    return log.address;
  }
}

/** The usual rules of a store. */
export class UsualRules {
  readonly #table: KeyTable;
  /** A plan gets its usual rule at its second use, because some apps create a plan for each check. */
  readonly #rules = new WeakMap<Plan, UsualRule | 'none' | 'used once'>();
  /** The plan of the last check, and its usual rule. Most stores have only one plan. */
  #plan: Plan | undefined;
  #rule: UsualRule | undefined;

  constructor(table: KeyTable) {
    this.#table = table;
  }

  /** Returns the plan's usual rule. Returns `undefined` at its first use, or if it has several rules or an unusual one. */
  of(plan: Plan): UsualRule | undefined {
    return plan === this.#plan ? this.#rule : this.#turnTo(plan);
  }

  #turnTo(plan: Plan): UsualRule | undefined {
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

  #create({ rules }: Plan): UsualRule | 'none' {
    const [rule] = rules;
    return rules.length === 1 && rule!.limit.isUsual === true ? new UsualRule(rule!, this.#table) : 'none';
  }
}
