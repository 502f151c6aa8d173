import { type BlockNameOf, toBlockingPlan } from '../blocks/block.js';
import type { Decision } from '../decision/decision.js';
import { RateLimitError } from '../decision/rate-limit-error.js';
import { type DecisionEventOf, decisions, publishDecision, rejections } from '../events/events.js';
import type { StoreError } from '../failure/store-error.js';
import type { LeaseKeeper, LeaseKeepingLimit, LeaseLoss } from '../leases/lease-keeper.js';
import type { MemoryStore } from '../memory/memory-store.js';
import { hasReport } from '../operations/state-store.js';
import { type Plans, resolveKeys, selectLimits } from '../plan/create-plan.js';
import type { Limits, NameOf, SomeKeys, WithoutOthers } from '../plan/keys-and-limits.js';
import { type Costs, type Plan, resolveCosts } from '../plan/plan.js';
import { decideConstants } from '../store/decide-constants.js';
import { namesOf, type QuotaQueues, queuesOf, wakeWaiters } from '../store/quota-waiters.js';
import type { Store } from '../store/store.js';
import { sleep } from '../time/cancellation.js';
import type { Clock } from '../time/clock.js';
import { type Awaitable, mapAwaitable, toPromise } from '../util/awaitable.js';
import type { Duration } from '../validation/duration.js';
import { unsupported } from '../validation/errors.js';
import { checkAtTail } from '../waiting/check-at-tail.js';
import { WaitingCallers } from '../waiting/waiting-callers.js';
import {
  type BlockKeysOn,
  type CheckOptions,
  type DecisionFor,
  type DecisionOn,
  type GivenOptions,
  type KeyOn,
  type OptionsOf,
  type RateLimiterOptions,
  resolveRateLimiterOptions,
  resolveWaitOptions,
  type SettleOptions,
  type SomeKeysOn,
  type WaitOptions,
} from './rate-limiter-options.js';
import { refundDecision, releaseLeases, settleDecision } from './settlement.js';

/** What {@link RateLimiter.internals} returns. */
export interface LimiterInternals {
  /** The limits that decide together. */
  readonly plan: Plan;
  /** The store in its guard. */
  readonly store: Store;
  /** Whether the options contain a name or a prefix, so that the limiter has the same name in every process. */
  readonly hasOwnName: boolean;
  /** What ends when the limiter is closed. */
  readonly ends: (() => void)[];
}

/**
 * Decides whether an action is allowed now.
 *
 * @typeParam HasLimits `false` for the limiter of an adapter whose limits depend on the request, so that `peek` and `reset` need `limits`.
 * @throws TypeError, RangeError at construction, naming the invalid option.
 * @example
 * ```ts
 * import { RateLimiter, rollingWindow } from '@rollgate/core';
 *
 * const limiter = new RateLimiter({
 *   limits: {
 *     global: rollingWindow({ limit: 100, window: '30m' }),
 *     category: rollingWindow({ limit: 1, window: '30m' }),
 *   },
 * });
 * const first = await limiter.check({ global: 'all', category: 'errors' });
 * first.allowed; // => true
 * const second = await limiter.check({ global: 'all', category: 'errors' });
 * second.violated; // => ['category']
 * second.limits.global.remaining; // => 99
 * ```
 */
export class RateLimiter<Given extends Limits = Limits, HasLimits extends boolean = boolean> {
  /** The option `name`; by default the prefix, or `'rollgate'` and a number. */
  readonly name: string;
  /** The option `prefix`. */
  readonly prefix: string;
  /** The option `dryRun`. */
  readonly dryRun: boolean;
  readonly #plans: Plans;
  /** The plan of the limiter's own limits, if it has any. */
  readonly #ownPlan: Plan | undefined;
  /** Wrapped once a plan has limits of 0 or `Infinity`, so that all other limiters do without. */
  #store: Store;
  readonly #ownsStore: boolean;
  readonly #hasOwnName: boolean;
  readonly #waiting: WaitingCallers;
  /** Empty unless callers wait at a limiter on the same store. */
  readonly #queues: QuotaQueues;
  readonly #onLeaseLost: RateLimiterOptions['onLeaseLost'];
  /** The open slots, once a check may take one. */
  #leases: LeaseKeeper | undefined;
  /** What functions such as `describeLimiter` have started for this limiter. */
  readonly #ends: (() => void)[] = [];

  constructor(options: GivenOptions<Given>) {
    const { plans, store, maxWaiting, name, hasOwnName, prefix, dryRun } = resolveRateLimiterOptions(options);
    this.name = name;
    this.prefix = prefix;
    this.dryRun = dryRun;
    this.#plans = plans;
    this.#ownPlan = options.limits === null ? undefined : plans.own;
    this.#store = this.#ownPlan?.hasConstants ? decideConstants(store) : store;
    this.#waiting = new WaitingCallers({ limiter: this, maxWaiting });
    this.#queues = queuesOf(store);
    this.#hasOwnName = hasOwnName;
    this.#ownsStore = options.store === undefined;
    this.#onLeaseLost = options.onLeaseLost;
  }

  /**
   * Decides and records in one atomic step. If all limits allow the action, all of them record it. Otherwise only
   * limits with `countRejected` do.
   *
   * @param key One key for all limits, or one per limit.
   * @throws TypeError, RangeError for an invalid key or option. A {@link StoreError} if the store fails and
   * `onStoreError` is `'throw'`. The promise rejects with it.
   */
  check<Own extends Limits = Given>(key: KeyOn<Own>, options?: CheckOptions<Own>): Promise<DecisionOn<Own>> {
    try {
      return toPromise(this.decide(key, options)); // An `async` method would wrap the store's promise in another one.
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Like {@link check}, but returns the decision synchronously if the store does. A {@link MemoryStore} always does,
   * and a store on a network does when it knows the decision already. Use it where one promise per call is too
   * expensive, for example in an adapter.
   *
   * @throws TypeError, RangeError for an invalid key or option, synchronously. So is a {@link StoreError} while the
   * store is known to be down and `onStoreError` is `'throw'`.
   */
  decide<Own extends Limits = Given>(key: KeyOn<Own>, options?: CheckOptions<Own>): Awaitable<DecisionOn<Own>> {
    // Most calls have one key and no options, and need nothing resolved.
    const plan = options === undefined ? (this.#ownPlan ?? this.#plans.own) : this.#planOf(options);
    const cost = options?.cost;
    const keys = typeof key === 'string' && key !== '' ? key : resolveKeys(plan, key);
    const costs = cost === undefined ? 1 : resolveCosts(plan, cost);
    const store = this.#store;
    const { leasing } = plan;
    let decision =
      this.#queues.size === 0 ? store.check(plan, keys, costs) : checkAtTail(this.#queues, store, plan, keys, costs);
    if (leasing !== undefined) decision = this.#keeperFor(plan)!.hold(plan, keys, costs, key, decision);
    const isObserved = decisions.hasSubscribers || rejections.hasSubscribers;
    return (isObserved ? publishDecision(this, key, cost, decision) : decision) as Awaitable<DecisionOn<Own>>;
  }

  /**
   * Like {@link check}, but throws the rejection, and resolves at the action's start: with a queue such as `leakyBucket`, after the
   * decision's `delayMs`. With `dryRun: true`, it does neither. For code whose errors become responses, such as resolvers, procedures
   * and tools.
   *
   * @throws A {@link RateLimitError} if the action is rejected. The same as {@link check} otherwise. The promise rejects with it.
   * @example
   * ```ts
   * import { RateLimiter } from '@rollgate/core';
   *
   * const limiter = new RateLimiter({ limit: 1, window: '1m' });
   * await limiter.enforce('ann');
   * const error = await limiter.enforce('ann').catch((error) => error);
   * error.code; // => 'RATE_LIMIT_EXCEEDED'
   * error.status; // => 429
   * ```
   */
  async enforce<Own extends Limits = Given>(key: KeyOn<Own>, options?: CheckOptions<Own>): Promise<DecisionOn<Own>> {
    const decision: Decision = await this.decide(key, options);
    if (!decision.allowed && !this.dryRun) throw new RateLimitError(decision);
    const { delayMs } = decision;
    if (delayMs > 0 && !this.dryRun) await sleep(delayMs, this.clock);
    return decision as DecisionOn<Own>;
  }

  /** Like {@link check}, but records nothing. With a record of keys, only the limits that it names decide. */
  peek<Own extends Limits = Given, Keys extends SomeKeysOn<Own> = SomeKeysOn<Own>>(
    key: Keys & WithoutOthers<Keys, NameOf<Own>>,
    ...options: OptionsOf<HasLimits, CheckOptions<Own>>
  ): Promise<DecisionFor<Own, Keys>>;
  async peek(key: unknown, options?: CheckOptions): Promise<Decision> {
    const plan = selectLimits(this.#planOf(options), key);
    const costs = resolveCosts(plan, options?.cost);
    return this.#store.peek(plan, resolveKeys(plan, key), costs);
  }

  /**
   * Refunds exactly what the check with this decision recorded. A second refund does nothing, and neither does a refund
   * of hits that have left the window or were reset. A rejected attempt that `countRejected` recorded stays recorded.
   *
   * @param key With a record of keys, the limits that it does not name keep what the check recorded, for good. The decision
   * knows its keys, so only the names matter.
   * @throws TypeError if `decision` does not come from a limiter, or if `key` names a limit that it does not have. The promise
   * rejects with it.
   */
  async refund<Name extends string>(decision: Decision<Name, Name>, key?: NoInfer<SomeKeys<Name>>): Promise<void> {
    await refundDecision(this.#store, decision, key);
  }

  /**
   * Replaces what the check with this decision recorded by the actual cost, in one atomic step for all limits. Where the
   * actual cost is lower, it refunds the difference. Where it is higher, it records the difference now, whether or not
   * that many units are free. Later checks are rejected until enough of such an overdraft has expired.
   *
   * A decision can be settled or refunded once. Later calls change nothing. If the hit has expired or was reset,
   * `settle` records only an overdraft. If a reservation has ended before, it records the actual cost in full.
   *
   * @throws TypeError if `decision` does not come from a limiter. TypeError or RangeError for an invalid cost. A
   * {@link StoreError} if the store fails and `onStoreError` is `'throw'`. The promise rejects with it.
   */
  async settle<Name extends string>(
    decision: Decision<Name, Name>,
    options: SettleOptions<NoInfer<Name>>,
  ): Promise<void> {
    await settleDecision(this.#store, decision, options);
  }

  /**
   * Ends the leases of the check with this decision. It frees the slots of `concurrency` limits, and spends what a
   * `calendarWindow` with `lease` has reserved. Other limits keep their hits. A second call does nothing, and neither does one
   * for a rejected decision. A decision can still be settled afterward.
   *
   * @throws TypeError if `decision` does not come from a limiter, or from a check without leases. A
   * {@link StoreError} if the store fails and `onStoreError` is `'throw'`. The promise rejects with it.
   */
  async release(decision: Decision): Promise<void> {
    await releaseLeases(this.#store, decision);
  }

  /**
   * Records usage that was learned elsewhere, whether or not that many units are free. Takes `cost` and `limits` as
   * {@link check} does. A limit that a record of costs omits takes one unit. With a record of keys, only the limits
   * that it names record.
   *
   * Resolves to the decision that {@link peek} would return right after.
   *
   * @throws The same as {@link check}.
   */
  async charge<Own extends Limits = Given, Keys extends SomeKeysOn<Own> = SomeKeysOn<Own>>(
    key: Keys & WithoutOthers<Keys, NameOf<Own>>,
    options?: CheckOptions<Own>,
  ): Promise<DecisionFor<Own, Keys>> {
    const plan = selectLimits(this.#planOf(options), key);
    return chargeKeys(this.#store, plan, key, resolveCosts(plan, options?.cost)) as Awaitable<DecisionFor<Own, Keys>>;
  }

  /**
   * Closes a key for a time, so that limits of {@link block} reject it with the reason `'blocked'`. If the key is closed for
   * longer already, that block stays. Only {@link reset} opens the key earlier. Takes `limits` as {@link check} does.
   *
   * Resolves to the decision of these limits right after, whose `retryAfterMs` is the time for which the key is closed.
   *
   * @param key One key for all limits of `block()`, or one for each of some of them.
   * @param duration Milliseconds, or text such as `'1h'`, at most 100 years. `Infinity` closes the key until a reset.
   * @throws TypeError, RangeError for an invalid key or duration. A {@link StoreError} if the store fails, unless the policy
   * is `'fallback'`. The promise rejects with it.
   */
  async block<Own extends Limits = Given, Keys extends BlockKeysOn<Own> = BlockKeysOn<Own>>(
    key: Keys & WithoutOthers<Keys, BlockNameOf<Own>>,
    duration: Duration,
    options?: Pick<CheckOptions<Own>, 'limits'>,
  ): Promise<DecisionFor<Own, Keys, BlockNameOf<Own>>> {
    const blocking = toBlockingPlan(this.#planOf(options), key, duration);
    return chargeKeys(this.#store, blocking, key, 1) as Awaitable<DecisionFor<Own, Keys, BlockNameOf<Own>>>;
  }

  /**
   * Drops the state of a key, so that it has its full quota again. With a record of keys, the limits that it does not name
   * keep their state. Takes `limits` as {@link check} does.
   */
  reset<Own extends Limits = Given>(
    key: SomeKeysOn<Own>,
    ...options: OptionsOf<HasLimits, Pick<CheckOptions<Own>, 'limits'>>
  ): Promise<void>;
  async reset(key: unknown, options?: Pick<CheckOptions, 'limits'>): Promise<void> {
    const plan = selectLimits(this.#planOf(options), key);
    const keys = resolveKeys(plan, key);
    const store = this.#store;
    await store.reset(plan, keys);
    wakeWaiters(store, () => namesOf(store, plan, keys));
  }

  /**
   * Waits until the action is allowed, and records it. Use it for outgoing work, such as calls to an API.
   *
   * Callers that wait for the same key of a limit start in the order of their calls. All limiters of this process on one store
   * share the order. With a queue such as `leakyBucket`, the promise resolves at the action's start, after the decision's
   * `delayMs`. Waiting itself counts as no attempt, even with `countRejected`. A caller that stops waiting for its start
   * frees it. A reset, a refund, a release or a settlement in this process wakes the first caller of each key that it frees.
   *
   * @throws RangeError if the cost exceeds a limit or the key is blocked until a reset. A `TimeoutError` when `timeout`
   * passes, or as soon as the earliest start is known to be later. The signal's reason when the signal aborts. An error
   * with the code `ERR_ROLLGATE_TOO_MANY_WAITING` when `maxWaiting` callers wait already. An error with the code
   * `ERR_ROLLGATE_LIMITER_CLOSED` when {@link close} is called, or was called before.
   */
  async wait<Own extends Limits = Given>(key: KeyOn<Own>, options: WaitOptions<Own> = {}): Promise<DecisionOn<Own>> {
    const { signal, timeoutMs, cost, limits } = resolveWaitOptions(options);
    const plan = this.#planOf({ limits });
    const keys = resolveKeys(plan, key);
    const costs = resolveCosts(plan, cost);
    const call = {
      store: this.#store,
      plan,
      keys,
      costs,
      key,
      cost,
      signal,
      timeoutMs,
      leaseKeeper: this.#keeperFor(plan),
    };
    return this.#waiting.wait(call) as Promise<DecisionOn<Own>>;
  }

  /** The store in its guard, and the plan of some limits, for functions such as `keysOf` of `@rollgate/core/observe`. */
  internals(options?: Pick<CheckOptions, 'limits'>): LimiterInternals {
    return {
      plan: this.#planOf(options),
      store: this.#store,
      hasOwnName: this.#hasOwnName,
      ends: this.#ends,
    };
  }

  /** The clock of the limiter's store, if the store has one. */
  get clock(): Clock | undefined {
    return this.#store.clock;
  }

  /**
   * Ends the renewal of leases and of the limiter's description, rejects the callers of {@link wait}, and closes the limiter's
   * own store. A store that you passed to the constructor stays open.
   */
  async close(): Promise<void> {
    this.#waiting.close();
    this.#leases?.close();
    for (const end of this.#ends) end();
    if (this.#ownsStore) await this.#store.close?.();
  }

  /** Returns the plan of the limits in the options of a call, or the limiter's own one. */
  #planOf(options: { readonly limits?: Limits | undefined } | undefined): Plan {
    const plan = this.#plans.of(options);
    if (plan.hasConstants) this.#store = decideConstants(this.#store);
    return plan;
  }

  /** What keeps the leases of these limits, if there are any. The limit that has leases brings it. */
  #keeperFor({ leasing }: Plan): LeaseKeeper | undefined {
    if (!leasing) return undefined;
    this.#leases ??= (leasing as LeaseKeepingLimit).createLeaseKeeper(this, this.#store, this.#onLeaseLost);
    return this.#leases;
  }
}

/** Records costs without deciding. Returns the decision of a peek right after. Reported numbers may free units. */
function chargeKeys(store: Store, plan: Plan, key: unknown, costs: Costs): Awaitable<Decision> {
  if (store.charge === undefined) throw unsupported('charge');
  const keys = resolveKeys(plan, key);
  const charged = store.charge(plan, keys, costs);
  if (!plan.rules.some(({ limit }) => hasReport(limit))) return charged;
  return mapAwaitable(charged, (decision) => {
    wakeWaiters(store, () => namesOf(store, plan, keys));
    return decision;
  });
}

/** Published on the channel `rollgate:decision` for each check, and on `rollgate:rejection` for each rejected one. */
export type DecisionEvent = DecisionEventOf<RateLimiter>;

/**
 * Published on the channel `rollgate:lease:lost` when slots of a `concurrency` limit, or reserved units of a `calendarWindow`, may
 * belong to another process.
 */
export type LeaseLossEvent = LeaseLoss<RateLimiter>;
