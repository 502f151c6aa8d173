import { closesUsedUp, isConstant } from '../limits/limit.js';
import { rollingWindow } from '../limits/rolling-window.js';
import { getOrInsert } from '../util/get-or-insert.js';
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

/** Whether a limit of 0 rejects the action. */
export function isRejectedByConstant({ rules }: Plan, costs: Costs): boolean {
  return rules.some(({ limit }, index) => limit.limit === 0 && limit.enforced !== false && costAt(costs, index) > 0);
}

/** The plans that a store gets of one with such limits. */
interface Parts {
  /** The indices of the rules that need a store. */
  readonly indices: readonly number[];
  /** The rules that need a store. */
  readonly stored: Plan;
  /** The rules that need a store, and one that rejects. */
  readonly rejecting: Plan;
}

const partsOfPlans = new WeakMap<Plan, Parts>();

/** The cost of the rule that rejects. A cost above its limit can never succeed, and leaves no trace. */
const REJECTED_COST = 2;

/**
 * Returns what a store gets of a call, or `undefined` if no rule needs one.
 *
 * @param isRejected Whether the call is a check that a limit of 0 rejects. Only rules that record rejected checks need the store for it,
 * which rejects it, too, so that no other rule records it.
 */
export function toStoredCall(plan: Plan, keys: Keys, costs: Costs, isRejected = false): StoredCall | undefined {
  if (!plan.hasConstants) return { plan, keys, costs };
  const { indices, stored, rejecting } = getOrInsert(partsOfPlans, plan, () => divide(plan));
  const recordsRejected = ({ limit }: Rule) => limit.countRejected || closesUsedUp(limit);
  const needsStore = (index: number) => recordsRejected(plan.rules[index]!) && costAt(costs, index) > 0;
  if (!indices.some((index) => !isRejected || needsStore(index))) return undefined;
  // The rule that rejects has the key of another one, because all keys of a check may have to be in one hash slot.
  const used = isRejected ? [...indices, indices[0]!] : indices;
  const costOf = (index: number, place: number) => (place < indices.length ? costAt(costs, index) : REJECTED_COST);
  return {
    plan: isRejected ? rejecting : stored,
    keys: typeof keys === 'string' ? keys : used.map((index) => keyAt(keys, index)),
    costs: joinCosts(used.map(costOf)),
  };
}

function divide(plan: Plan): Parts {
  const { prefix, rules } = plan;
  const indices = [...rules.keys()].filter((index) => !isConstant(rules[index]!.limit));
  const toPart = ({ rules, fallback }: Plan, more: readonly Rule[]): Plan =>
    toPlan(prefix, [...indices.map((index) => rules[index]!), ...more], fallback && toPart(fallback, more));
  // The rule that rejects has the name of a limit whose result nobody reads.
  const { name, namespace } = rules.find(({ limit }) => limit.limit === 0) ?? rules[0]!;
  const limit = rollingWindow({ limit: REJECTED_COST - 1, window: '1s' });
  const rejecting: Rule = { name, limit, namespace: `${namespace}:rejected` };
  return { indices, stored: toPart(plan, []), rejecting: toPart(plan, [rejecting]) };
}
