import { KeyBlock, parseBlockLength } from '../limits/key-block.js';
import type { Limit, Mode, State, Verdict } from '../limits/limit.js';
import { selectLimits } from '../plan/create-plan.js';
import type { Limits } from '../plan/keys-and-limits.js';
import type { Plan, Rule } from '../plan/plan.js';
import { withCode } from '../validation/error-codes.js';
import { optionError } from '../validation/validate.js';

/**
 * A limit without a quota. It allows everything until `block` of the limiter closes a key for a time. While a key is
 * closed, it rejects with `reason: 'blocked'` and the exact wait. The longest of several blocks decides, and `reset`
 * opens the key.
 *
 * Neither a check nor a charge changes a block. Its `limit` is `Infinity`, and so is `remaining` while the key is open.
 *
 * @example
 * ```ts
 * import { block, RateLimiter, rollingWindow } from '@rollgate/core';
 *
 * const limiter = new RateLimiter({
 *   limits: { attempts: rollingWindow({ limit: 5, window: '1m' }), blocked: block() },
 * });
 * await limiter.block({ blocked: 'ann' }, '1h');
 * const decision = await limiter.check('ann');
 * decision.reason; // => 'blocked'
 * decision.violated; // => ['blocked']
 * await limiter.reset({ blocked: 'ann' });
 * (await limiter.check('ann')).allowed; // => true
 * ```
 */
export function block(): Block {
  return new Block(0);
}

/** See {@link block}. Immutable. */
export class Block extends KeyBlock implements BlockingLimit {
  constructor(lengthMicros: number) {
    super(lengthMicros, lengthMicros === 0);
  }

  /** Decides on the action and, as `mode` says, closes the key. The wait is that of the action, not that of later ones. */
  override apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const waitMicros = Math.max(0, this.expiresMicros(state) - nowMicros);
    super.apply(state, nowMicros, cost, verdict, mode);
    verdict.waitMicros = waitMicros;
  }

  /** Returns the limit whose record closes a key for so long. */
  lasting(duration: unknown): Block {
    return new Block(parseBlockLength('duration', duration));
  }

  toBlockingPlan(plan: Plan, key: unknown, duration: unknown): Plan {
    const closed = this.lasting(duration);
    const close = ({ rules, fallback, ...rest }: Plan): Plan => ({
      ...rest,
      rules: rules.flatMap((rule) => closeRule(rule, closed, key)),
      fallback: fallback && close(fallback),
    });
    return close(selectLimits(plan, key));
  }
}

/** Returns the rule with the limit that closes its key. Of one key for all limits, only the blocks use it. */
function closeRule(rule: Rule, closed: Block, key: unknown): Rule[] {
  if ((rule.limit as Partial<BlockingLimit>).toBlockingPlan) return [{ ...rule, limit: closed }];
  if (typeof key !== 'object') return [];
  const message = `Expected \`key\` to name only limits of \`block()\`, got \`${rule.name}\``;
  throw withCode('ERR_ROLLGATE_INVALID_KEY', new TypeError(message));
}

/** The message for a `block` of a limiter that has no limit for it. */
const NO_BLOCK = 'Expected at least one limit of `block()` in `limits`, got none. Add one, such as `blocked: block()`';

/** A limit that closes keys. It brings the code for that, so that bundles of other apps do not contain it. */
interface BlockingLimit extends Limit {
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
