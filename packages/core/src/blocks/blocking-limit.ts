import type { Limit } from '../limits/limit.js';
import type { Limits } from '../plan/keys-and-limits.js';
import type { Plan } from '../plan/plan.js';
import { optionError } from '../validation/validate.js';

/** The message for a `block` of a limiter that has no limit for it. */
const NO_BLOCK = 'Expected at least one limit of `block()` in `limits`, got none. Add one, such as `blocked: block()`';

/** A limit that closes keys. It brings the code for that, so that bundles of other apps do not contain it. */
export interface BlockingLimit extends Limit {
  /**
   * Returns the plan whose charge closes keys for so long: the limits of `block()` for which `key` has a key.
   *
   * @throws TypeError, RangeError if a record names another limit, or if the duration is invalid.
   */
  toBlockingPlan(plan: Plan, key: unknown, duration: unknown): Plan;
}

/** The names of the limits that `block()` may have created. */
export type BlockNameOf<Given extends Limits> = Given extends Limit | string
  ? IfBlocks<Given, 'default'>
  : { [Name in keyof Given]: IfBlocks<Given[Name], Name> }[keyof Given] & string;

/** A type that is not known in detail may be a block. */
type IfBlocks<One, Name> = One extends BlockingLimit ? Name : Limit extends One ? Name : never;

/** Returns the plan whose charge closes keys, by the limit of the plan that brings the code for it. */
export function toBlockingPlan(plan: Plan, key: unknown, duration: unknown): Plan {
  const limit = plan.rules.map((rule) => rule.limit as BlockingLimit).find((one) => one.toBlockingPlan);
  if (!limit) throw optionError(NO_BLOCK);
  return limit.toBlockingPlan(plan, key, duration);
}
