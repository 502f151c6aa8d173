import { getOrInsert } from '../util/get-or-insert.js';
import { withCode } from '../validation/error-codes.js';
import { validateOptionNames } from '../validation/validate.js';
import { createPlan } from './create-plan.js';
import type { Limits, ParsedLimits } from './keys-and-limits.js';
import { toParsedLimits } from './parse-limits.js';
import type { Plan } from './plan.js';

/** The message for a call without limits to a limiter that has none. */
const MISSING_LIMITS =
  'Expected `limits` with this call, got none. The limits of this limiter are `null` or a function. Pass those of the client, such as `peek(key, { limits })`';

const CHECK_OPTIONS = ['cost', 'limits'] as const;

/** The plan of a limiter's limits, and those of limits that callers pass. */
export class Plans {
  readonly #create: (limits: ParsedLimits) => Plan;
  readonly #own: Plan | undefined;
  /** An application passes few limits and uses each often. */
  readonly #passed = new WeakMap<object, Plan>();

  /**
   * @param complete Adds what else decides by limits to their plan.
   * @throws TypeError if `limits` is neither a limit, a record of at least one, nor `null`.
   */
  constructor(prefix: string, limits: Limits | null, complete: (plan: Plan, limits: ParsedLimits) => Plan) {
    this.#create = (given) => complete(createPlan(prefix, given), given);
    this.#own = limits === null ? undefined : this.#create(toParsedLimits(limits));
  }

  /**
   * The plan of the limiter's own limits.
   *
   * @throws TypeError if it has none.
   */
  get own(): Plan {
    if (this.#own !== undefined) return this.#own;
    throw withCode('ERR_ROLLGATE_MISSING_LIMITS', new TypeError(MISSING_LIMITS));
  }

  /**
   * Returns the plan of the limits in the options of a call, or the limiter's own one without any.
   *
   * @throws TypeError if the options of a check have another name, or if `limits` is invalid.
   */
  of(options: { readonly limits?: Limits | undefined } | undefined): Plan {
    if (options === undefined) return this.own;
    let areKnown = typeof options === 'object' && options !== null;
    // Without a list of the names, which would take longer than the decision.
    for (const name in options) areKnown &&= name === 'cost' || name === 'limits';
    if (!areKnown) validateOptionNames('check', options, CHECK_OPTIONS);
    const { limits } = options;
    if (limits === undefined) return this.own;
    const parsed = toParsedLimits(limits);
    return getOrInsert(this.#passed, parsed, () => this.#create(parsed));
  }
}
