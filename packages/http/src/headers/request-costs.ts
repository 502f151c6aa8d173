import type { Cost, Decision } from '@rollgate/core';

/** The costs of decisions, as far as the headers need them. */
const costs = new WeakMap<Decision, Cost>();

/** Remembers the cost of a decision, for headers that contain it. Returns the decision. */
export function rememberCost(decision: Decision, cost: Cost): Decision {
  if (cost !== 1) costs.set(decision, cost);
  return decision;
}

/** Remembers only a cost that leaves out a limit, which then had no part in the decision. Returns the decision. */
export function rememberPartialCost(decision: Decision, cost: Cost): Decision {
  if (typeof cost === 'object' && Object.values(cost).includes(0)) costs.set(decision, cost);
  return decision;
}

/** Returns what a decision takes of the limit with this name, 1 if nothing was remembered. */
export function costOf(decision: Decision, name: string): number {
  const cost = costs.get(decision) ?? 1;
  return typeof cost === 'number' ? cost : (cost[name] ?? 1);
}
