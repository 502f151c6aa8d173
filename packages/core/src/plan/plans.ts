import { withCode } from '../validation/error-codes.js';
import { createPlan, type Limits } from './create-plan.js';
import type { Plan } from './plan.js';

/** The plan of a limiter's limits, and those of limits that callers pass. */
export class Plans {
  readonly #prefix: string;
  readonly #own: Plan | undefined;
  /** An application passes few limits and uses each often. */
  readonly #passed = new WeakMap<object, Plan>();

  /** @throws TypeError if `limits` is neither a limit, a record of at least one, nor `null`. */
  constructor(prefix: string, limits: unknown) {
    this.#prefix = prefix;
    this.#own = limits === null ? undefined : createPlan(prefix, limits);
  }

  /**
   * The plan of the limiter's own limits.
   *
   * @throws TypeError if it has none.
   */
  get own(): Plan {
    if (this.#own !== undefined) return this.#own;
    const message =
      'Expected `limits` with this call, got none. The limits of this limiter are `null` or a function. Pass those of the client, such as `peek(key, { limits })`';
    throw withCode('ERR_ROLLGATE_MISSING_LIMITS', new TypeError(message));
  }

  /** Returns the plan of these limits, or the limiter's own one without any. */
  of(limits: Limits | undefined): Plan {
    if (limits === undefined) return this.own;
    let plan = this.#passed.get(limits);
    if (plan === undefined) {
      plan = createPlan(this.#prefix, limits);
      this.#passed.set(limits, plan);
    }
    return plan;
  }
}
