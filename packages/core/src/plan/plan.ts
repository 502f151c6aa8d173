import type { Limit } from '../limits/limit.js';
import { formatValue, invalidNumber, optionError, validatePositiveInteger } from '../validation/validate.js';
import type { Limits, NameOf } from './keys-and-limits.js';

/** One limit of a check, with its name and the namespace of its keys. The block of a limit has its name, and follows it. */
export interface Rule {
  /** The limit's name in the record of limits, or `default`. */
  readonly name: string;
  /** The limit that decides. */
  readonly limit: Limit;
  /**
   * The limiter's prefix, the limit's name and its algorithm. Two rules share a key only if all three are equal. So a
   * limit whose algorithm changes starts without history.
   */
  readonly namespace: string;
  /**
   * What `violated` of a decision is if this rule alone rejects. One array for all of them takes no time and no memory. Absent if a
   * decision on this rule alone has no room for all of its result.
   */
  readonly violated?: readonly string[] | undefined;
}

/** The rules that a check decides together. There is at least one. */
export interface Plan {
  /** The prefix of the limiter. */
  readonly prefix: string;
  /** A limit whose checks take leases, if there is one: slots, or reserved units. */
  readonly leasing?: Limit | undefined;
  /** Whether limits of 0 or `Infinity` may be among the rules. They decide before the store, which never gets such a plan. */
  readonly hasConstants?: true | undefined;
  /** The rules, in the order of the limits. */
  readonly rules: readonly Rule[];
  /** Decides in this process's memory while the store fails. It differs in the settings of the limits. */
  readonly fallback?: Plan | undefined;
}

/** One key for all rules of a plan, or one key per rule, in the order of the rules. */
export type Keys = string | readonly string[];

/** Returns the key of the rule at `index`. */
export function keyAt(keys: Keys, index: number): string {
  return typeof keys === 'string' ? keys : (keys[index] as string);
}

/**
 * The cost of an action, in units: one for all rules of a plan, or one per rule, in the order of the rules. A rule with
 * cost 0 neither decides nor records. Rollgate passes one number whenever all costs are equal.
 */
export type Costs = number | readonly number[];

/** Returns the cost of the rule at `index`. */
export function costAt(costs: Costs, index: number): number {
  return typeof costs === 'number' ? costs : (costs[index] as number);
}

/** Returns one number if all costs are equal. */
export function joinCosts(costs: readonly number[]): Costs {
  return costs.every((cost) => cost === costs[0]) ? costs[0]! : costs;
}

/** What a settlement sets: the cost for all rules, or by limit name. A rule that a record omits keeps what it has. */
export type SettledCosts = number | Readonly<Record<string, number>>;

/** Returns the settled cost of the rule, or `undefined` if the rule keeps what it has. */
export function settledCost(costs: SettledCosts, { name }: Rule): number | undefined {
  if (typeof costs === 'number') return costs;
  return Object.hasOwn(costs, name) ? costs[name] : undefined;
}

const NAME = /^[a-z0-9][\w.-]{0,63}$/i;

/** Whether a limit may have this name. */
export const isLimitName = (name: string): boolean => NAME.test(name);

/** The message of the error for a record whose key `name` is not the name of a limit. */
export function unknownLimitMessage(option: string, name: string, names: readonly string[]): string {
  // A client may have chosen the name, so an unusual one is quoted and shortened.
  const shown = isLimitName(name) ? `\`${name}\`` : formatValue(name);
  const known = [...new Set(names)].map((one) => `\`${one}\``).join(', ');
  return `Unknown limit ${shown} in \`${option}\`. The limits are ${known}`;
}

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
