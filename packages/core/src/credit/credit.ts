import type { Decision } from '../decision/decision.js';
import type { CheckOptions } from '../limiter/rate-limiter-options.js';
import { resolveKeys } from '../plan/create-plan.js';
import type { SomeKeys } from '../plan/keys-and-limits.js';
import type { Plan } from '../plan/plan.js';
import { namesOf, wakeWaiters } from '../store/quota-waiters.js';
import type { Store } from '../store/store.js';
import { unsupported } from '../validation/errors.js';
import { validateBoolean, validateOptionNames, validatePositiveInteger } from '../validation/validate.js';
import { toCreditingPlan } from './crediting-plan.js';

/** The part of a `RateLimiter` that {@link credit} uses. */
interface CreditedLimiter {
  internals(options?: Pick<CheckOptions, 'limits'>): { readonly plan: Plan; readonly store: Store };
}

/** The options of {@link credit}. */
export interface CreditOptions extends Pick<CheckOptions, 'limits'> {
  /**
   * Whether to add what exceeds the used units to the quota of the present period, and to no later one. Only a `calendarWindow` has
   * periods.
   *
   * @defaultValue `false`
   */
  beyond?: boolean | undefined;
}

/**
 * Gives recorded units of a key back, for example when support makes up for a mistake: in each limit up to so many of those that are
 * used, the newest first. It never gives more than is used, and a key that has used nothing stays as it is. All limits change in one
 * atomic step, and callers of `wait` for the key may start.
 *
 * With one key for all limits, limits without units to give back stay as they are: `concurrency`, `block`, the queue of a
 * `leakyBucket`, whose callers have their starts already, and the quotas of servers. Reserved units of a `calendarWindow` with `lease` and
 * keys that `blockFor` has closed stay as they are, too.
 *
 * What it gives back is no longer there for a refund. Only a rolling window knows which units these are. In other limits, a refund or a
 * settlement of a check from before the credit takes other units of the key instead, as long as there are some.
 *
 * With `beyond`, the limits of calendar windows take all of the units: what exceeds the used ones is added to the quota of the present
 * period, so that `limit` and `remaining` of the results are higher until its end. A single action still costs at most the limit itself.
 *
 * @param key One key for all limits, or one for each of some of them.
 * @param units How many units, a positive safe integer.
 * @returns The decision of a peek of the limits right after.
 * @throws TypeError, RangeError for an invalid key, number or option. TypeError with the code `ERR_ROLLGATE_UNSUPPORTED_OPERATION` if
 * `key` names a limit without units to give back, or without periods with `beyond`, or for a `LeasingStore`. A `StoreError` if the store fails and `onStoreError` is
 * `'throw'`. The promise rejects with it.
 * @example
 * ```ts
 * import { RateLimiter } from '@rollgate/core';
 * import { credit } from '@rollgate/core/credit';
 *
 * const limiter = new RateLimiter({ limits: { minute: '10/1m', day: '100/1d' } });
 * await limiter.check('ann', { cost: 8 });
 * const decision = await credit(limiter, 'ann', 5);
 * decision.limits.minute.remaining; // => 7
 * decision.limits.day.remaining; // => 97
 * (await credit(limiter, { minute: 'ann' }, 100)).remaining; // => 10
 * ```
 */
export async function credit<Name extends string = string>(
  limiter: CreditedLimiter,
  key: SomeKeys<Name>,
  units: number,
  options: CreditOptions = {},
): Promise<Decision<Name>> {
  validateOptionNames('credit', options, ['limits', 'beyond']);
  validatePositiveInteger('units', units);
  const { limits, beyond = false } = options;
  const { plan: given, store } = limiter.internals({ limits });
  const plan = toCreditingPlan(given, key, validateBoolean('beyond', beyond));
  const keys = resolveKeys(plan, key);
  if (store.charge === undefined) throw unsupported('charge');
  const decision = await store.charge(plan, keys, units);
  wakeWaiters(store, () => namesOf(store, plan, keys));
  return decision as Decision<Name>;
}
