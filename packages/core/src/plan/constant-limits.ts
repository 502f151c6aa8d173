import { closesUsedUp, isConstant } from '../limits/limit.js';
import { rollingWindow } from '../limits/rolling-window.js';
import { type Costs, costAt, joinCosts, type Keys, keyAt, type Plan, type Rule } from './plan.js';

// A limit of 0 rejects everything, and one of `Infinity` allows everything. Both decide without a state, so that no store, script or
// algorithm has to know them. A store gets the other rules of a plan only.

/** Creates the plan of these rules. */
export function toPlan(prefix: string, rules: readonly Rule[], fallback?: Plan): Plan {
  const plan = { prefix, rules, leasing: rules.find(({ limit }) => limit.leaseMicros)?.limit, fallback };
  return rules.some(({ limit }) => isConstant(limit)) ? { ...plan, hasConstants: true } : plan;
}

/** What a store gets of a call. */
export interface StoredCall {
  readonly plan: Plan;
  readonly keys: Keys;
  readonly costs: Costs;
}

/** The rules of a plan that need a store. */
interface Stored {
  readonly plan: Plan;
  readonly indices: readonly number[];
  /** The rules of `plan`, and one that rejects. */
  readonly rejecting: Plan;
}

const storedRules = new WeakMap<Plan, Stored | null>();

/** Returns what a store gets of a call, or `undefined` if no rule needs one. */
export function toStoredCall(plan: Plan, keys: Keys, costs: Costs): StoredCall | undefined {
  if (!plan.hasConstants) return { plan, keys, costs };
  const stored = storedRulesOf(plan);
  return stored === null ? undefined : pick(stored, stored.plan, keys, costs);
}

/** Whether a limit of 0 rejects the action. */
export function isRejectedByConstant({ rules }: Plan, costs: Costs): boolean {
  return rules.some(({ limit }, index) => limit.limit === 0 && limit.enforced !== false && costAt(costs, index) > 0);
}

/** The cost of the rule that rejects. A cost above its limit can never succeed, and leaves no trace. */
const REJECTED_COST = 2;

/**
 * Like {@link toStoredCall}, for a check that a limit of 0 rejects. Only rules that record rejected checks need the store for it, which
 * rejects it, too, so that no other rule records it.
 */
export function toRejectedCall(plan: Plan, keys: Keys, costs: Costs): StoredCall | undefined {
  const stored = storedRulesOf(plan);
  if (stored === null) return undefined;
  const { indices, rejecting } = stored;
  const recordsRejected = ({ limit }: Rule) => limit.countRejected || closesUsedUp(limit);
  if (!indices.some((index) => recordsRejected(plan.rules[index]!) && costAt(costs, index) > 0)) return undefined;
  return {
    plan: rejecting,
    // The key of another rule, because all keys of a check may have to be in one hash slot.
    keys: typeof keys === 'string' ? keys : [...indices, indices[0]!].map((index) => keyAt(keys, index)),
    costs: [...indices.map((index) => costAt(costs, index)), REJECTED_COST],
  };
}

function pick({ indices }: Stored, plan: Plan, keys: Keys, costs: Costs): StoredCall {
  return {
    plan,
    keys: typeof keys === 'string' ? keys : indices.map((index) => keyAt(keys, index)),
    costs: typeof costs === 'number' ? costs : joinCosts(indices.map((index) => costAt(costs, index))),
  };
}

function storedRulesOf(plan: Plan): Stored | null {
  let stored = storedRules.get(plan);
  if (stored === undefined) {
    stored = selectStored(plan);
    storedRules.set(plan, stored);
  }
  return stored;
}

function selectStored({ prefix, rules, fallback }: Plan): Stored | null {
  const indices = [...rules.keys()].filter((index) => !isConstant(rules[index]!.limit));
  if (indices.length === 0) return null;
  const toPart = ({ rules }: Plan) => indices.map((index) => rules[index]!);
  const part = toPart({ prefix, rules });
  const partOfFallback = fallback && toPart(fallback);
  // The rule that rejects has the name of a limit whose result nobody reads.
  const { name, namespace } = rules.find(({ limit }) => limit.limit === 0) ?? rules[0]!;
  const limit = rollingWindow({ limit: REJECTED_COST - 1, window: '1s' });
  const rejecting: Rule = { name, limit, namespace: `${namespace}:rejected` };
  return {
    indices,
    plan: toPlan(prefix, part, partOfFallback && toPlan(prefix, partOfFallback)),
    rejecting: toPlan(prefix, [...part, rejecting], partOfFallback && toPlan(prefix, [...partOfFallback, rejecting])),
  };
}
