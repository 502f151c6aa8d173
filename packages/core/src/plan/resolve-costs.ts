import { invalidNumber, optionError, validatePositiveInteger } from '../validation/validate.js';
import type { Limits, NameOf } from './keys-and-limits.js';
import { type Costs, joinCosts, type Plan, unknownLimitMessage } from './plan.js';

/**
 * The units that an action takes: a positive safe integer for all limits, or a record of safe integers by limit name.
 * A single limit has the name `default`. A limit that the record omits has cost 1. With cost 0 in a record, the limit
 * neither decides nor records.
 */
export type Cost<Name extends string = string> = number | Readonly<Partial<Record<Name, number | undefined>>>;

/** The costs by the names of these limits. */
export type CostOn<Own extends Limits> = NoInfer<Cost<NameOf<Own>>>;

/**
 * Returns the costs in the order of the plan's rules. One number, if all are equal.
 *
 * @throws TypeError, RangeError if a cost is invalid or names an unknown limit.
 */
export function resolveCosts(plan: Plan, cost: unknown): Costs {
  return cost === undefined ? 1 : resolveGivenCosts(plan, cost);
}

/** Separate, so that V8 can inline a check without a cost. */
function resolveGivenCosts(plan: Plan, cost: unknown): Costs {
  if (typeof cost !== 'object' || cost === null || Array.isArray(cost)) return validatePositiveInteger('cost', cost);
  const record = readCostRecord(
    cost,
    plan.rules.map(({ name }) => name),
  );
  return joinCosts(plan.rules.map(({ name }) => record.get(name) ?? 1));
}

/**
 * Returns the defined costs of a record by limit name.
 *
 * @throws TypeError, RangeError if a cost is not a safe integer from 0, or if the name is not in `names`.
 */
export function readCostRecord(record: object, names: readonly string[]): Map<string, number> {
  const costs = new Map<string, number>();
  for (const [name, cost] of Object.entries(record)) {
    if (!names.includes(name)) throw optionError(unknownLimitMessage('cost', name, names));
    if (cost !== undefined) costs.set(name, unitsFromZero(`cost.${name}`, cost));
  }
  return costs;
}

/** Returns `value` if it is an integer from 0 to 2^53 - 1, and throws otherwise. */
export function unitsFromZero(option: string, value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw invalidNumber(option, 'a safe integer from 0', value);
}
