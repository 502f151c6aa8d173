import { getOrInsert, type Plan, type Rule, type SettledCosts } from '@rollgate/core/store';
import { Accounts } from './accounts.js';
import { type LeaseTerms, termsOf, widen } from './lease-terms.js';
import type { ResolvedLeasingOptions } from './leasing-store-options.js';
import { OpenCalls } from './open-calls.js';

/** A plan with limits that can be leased. */
export interface LeasedPlan {
  /** The plan as the limiter knows it. */
  readonly outer: Plan;
  /** The plan as the store knows it. Leased limits have a longer window and another name. */
  readonly inner: Plan;
  /** The accounts of each leased limit, by the index of its rule. */
  readonly accounts: readonly (Accounts | undefined)[];
  /** The indices of the rules that only the store decides. */
  readonly otherIndices: readonly number[];
  /** Returns the plan of some rules as the store knows them, by their indices. */
  readonly partOf: (indices: readonly number[]) => Plan;
  /** Whether the store decides all rules together, because a check takes slots or reservations. */
  readonly isWhole: boolean;
  readonly openCalls: OpenCalls;
  /** The time of the process. */
  readonly now: () => number;
}

/** Finds what to lease in the plans of a store's limiters. */
export class LeasedPlans {
  readonly #plans = new WeakMap<Plan, LeasedPlan | null>();
  /** Limits of the same settings and namespace share their accounts, because they share their keys. Plans and timers keep them. */
  readonly #accounts = new WeakValues<Accounts>();
  readonly #openCalls = new OpenCalls();

  constructor(private readonly options: ResolvedLeasingOptions) {}

  /** Returns what to lease of a plan, or `null` if none of its limits can be leased. */
  of(plan: Plan): LeasedPlan | null {
    let leased = this.#plans.get(plan);
    if (leased === undefined) {
      leased = this.#create(plan);
      this.#plans.set(plan, leased);
    }
    return leased;
  }

  /** Returns all unspent units to the store, also those of requests under way. The store decides later checks. */
  async close(): Promise<void> {
    this.#openCalls.isClosed = true;
    for (const [, accounts] of this.#accounts.entries()) accounts.close();
    await this.#openCalls.close();
  }

  toJSON(): object {
    return Object.fromEntries(this.#accounts.entries());
  }

  #create(outer: Plan): LeasedPlan | null {
    const { prefix, rules } = outer;
    const terms = rules.map(({ limit }) => termsOf(limit, this.options));
    if (terms.every((one) => one === undefined)) return null;
    const innerRules = rules.map((rule, index) => toInnerRule(prefix, rule, terms[index]));
    const inner = { ...outer, rules: innerRules };
    // A lease has only what is free, and a limit that never rejects also records more. Its window in the store is the same in both cases,
    // so its counts stay when the app enforces it.
    const accounts = innerRules.map((rule, index) => {
      const { limit } = rules[index]!;
      return limit.enforced === false ? undefined : terms[index] && this.#accountsOf(prefix, rule, terms[index]);
    });
    return {
      outer,
      inner,
      accounts,
      otherIndices: [...rules.keys()].filter((index) => accounts[index] === undefined),
      partOf: plansOfSome(inner),
      isWhole: rules.some(({ limit }) => limit.leaseMicros),
      openCalls: this.#openCalls,
      now: () => this.options.clock.now(),
    };
  }

  #accountsOf(prefix: string, rule: Rule, terms: LeaseTerms): Accounts {
    return getOrInsert(this.#accounts, `${rule.namespace} ${terms.limit} ${rule.limit.windowMicros}`, () => {
      const { store, clock } = this.options;
      const plan: Plan = { prefix, rules: [rule] };
      const openCalls = this.#openCalls;
      return new Accounts(terms, clock, {
        openCalls,
        take: (key, units) => openCalls.track(store.check(plan, key, units)),
        settle: (receipt, units) => openCalls.track(store.settle(receipt, units)),
        charge: (key, units) => store.charge(plan, key, units),
      });
    });
  }
}

/**
 * The lease is a part of the name, and so of the key in the store. Processes with another lease, or without, never share a log,
 * because each lease needs its own window.
 */
function toInnerRule(prefix: string, rule: Rule, terms: LeaseTerms | undefined): Rule {
  if (terms === undefined) return rule;
  const limit = widen(rule.limit, terms);
  const name = `${rule.name}+lease${terms.leaseMs}ms`;
  const violated = rule.violated && Object.freeze([name]);
  return { name, limit, namespace: `${prefix}:${name}:${limit.algorithm}`, violated };
}

/** Returns the costs of a settlement by the names that the store knows. */
export function toInnerCosts({ outer, inner }: LeasedPlan, costs: SettledCosts): SettledCosts {
  if (typeof costs === 'number') return costs;
  const named = outer.rules.flatMap(({ name }, index): [string, number][] => {
    return Object.hasOwn(costs, name) ? [[inner.rules[index]!.name, costs[name]!]] : [];
  });
  return Object.fromEntries(named);
}

/** Returns a function that returns the plan of some rules. It creates each plan once, because stores keep what follows from a plan. */
function plansOfSome({ prefix, rules }: Plan): (indices: readonly number[]) => Plan {
  const plans = new Map<string, Plan>();
  return (indices) =>
    getOrInsert(plans, indices.join(' '), () => ({ prefix, rules: indices.map((index) => rules[index]!) }));
}

/** Values by name, until the garbage collector removes them. */
class WeakValues<Value extends object> {
  readonly #values = new Map<string, WeakRef<Value>>();
  readonly #registry = new FinalizationRegistry<string>((name) => {
    if (this.get(name) === undefined) this.#values.delete(name);
  });

  get(name: string): Value | undefined {
    return this.#values.get(name)?.deref();
  }

  set(name: string, value: Value): void {
    this.#values.set(name, new WeakRef(value));
    this.#registry.register(value, name);
  }

  /** All names and values that are left. */
  *entries(): Generator<[string, Value]> {
    for (const [name, reference] of this.#values) {
      const value = reference.deref();
      if (value !== undefined) yield [name, value];
    }
  }
}
