import type { Decision } from '../decision/decision.js';
import { NO_DECISION, readReceipt } from '../decision/take-receipt.js';
import type { SomeKeysOn } from '../limiter/call-types.js';
import { RateLimiter } from '../limiter/rate-limiter.js';
import type { CheckOptions, RateLimiterOptions } from '../limiter/rate-limiter-options.js';
import { MemoryStore } from '../memory/memory-store.js';
import { isLimit, type Limits, type NameOf, resolveKeys, selectLimits } from '../plan/create-plan.js';
import { Plans } from '../plan/plans.js';
import type { Cost } from '../plan/resolve-costs.js';
import { namesOf, wakeWaiters } from '../store/quota-waiters.js';
import type { Store } from '../store/store.js';
import { invalidOption, validateBoolean, validateOptionNames } from '../validation/validate.js';
import { tellDecision, toTellings } from './tell.js';
import { isTellable, type Told } from './told.js';

/** The options of {@link OutgoingLimiter.tell}. */
export interface TellOptions<Name extends string = string> {
  /**
   * What the server has reported: numbers for all limits of `toldQuota`, or a record of numbers by limit name.
   *
   * @defaultValue nothing
   */
  told?: Told | { readonly [One in Name]?: Told | undefined } | undefined;
  /**
   * The actual cost of the call, as in `settle`. Limits with numbers in `told` ignore it, because the server has counted it.
   * Only with a decision.
   */
  cost?: Cost<Name> | undefined;
  /**
   * Whether the call stays open in the limits that have neither numbers in `told` nor a cost in `cost`. They keep its slots and units
   * until `settle`, `refund` or `release`, such as while the body of the response arrives. A slot becomes free only with a cost of 0.
   * Only with a decision.
   *
   * @defaultValue false
   */
  keepOpen?: boolean | undefined;
  /**
   * How long ago the request was sent whose response has the numbers, in milliseconds. Only with a key, because a decision
   * knows it.
   *
   * @defaultValue 0
   */
  ageMs?: number | undefined;
}

/**
 * A `RateLimiter` for calls to an API that limits its clients. Next to your own limits, those of {@link toldQuota} obey
 * what the server reports.
 *
 * @throws TypeError, RangeError at construction, naming the invalid option.
 * @example
 * ```ts
 * import { rollingWindow } from '@rollgate/core';
 * import { OutgoingLimiter, toldQuota } from '@rollgate/core/outgoing';
 *
 * const limiter = new OutgoingLimiter({
 *   limits: { own: rollingWindow({ limit: 100, window: '1m' }), api: toldQuota({ lease: '30s' }) },
 * });
 * const decision = await limiter.wait('token');
 * // Send the request, and read the headers of its response.
 * await limiter.tell(decision, { told: { remaining: 0, limit: 60, resetMs: 42_000 } });
 * (await limiter.check('token')).retryAfterMs <= 42_000; // => true
 * ```
 */
export class OutgoingLimiter<Given extends Limits = Limits> extends RateLimiter<Given> {
  readonly #plans: Plans;
  readonly #store: Store;
  readonly #ownsStore: boolean;

  constructor(options: RateLimiterOptions<Given>) {
    const store: Store = options?.store ?? new MemoryStore();
    super({ ...options, store });
    this.#plans = new Plans(options.prefix ?? 'rollgate', options.limits, (plan) => plan);
    this.#store = store;
    this.#ownsStore = options.store === undefined;
  }

  /**
   * Records what the response of a call reports about the quota, and closes the call, in one atomic step for all limits.
   *
   * The numbers count as of the time at which the call was checked. They replace older ones. If another response has arrived
   * since that check, the lower count of the same window stays. Limits without numbers settle to `cost`, or stay open with `keepOpen`.
   * A decision works once, for this method, a settlement or a refund.
   *
   * @throws TypeError, RangeError for invalid numbers, or without a limit of {@link toldQuota}. A `StoreError` if the store
   * fails and `onStoreError` is `'throw'`. The promise rejects with it.
   */
  async tell<Name extends string>(
    decision: Decision<Name, Name>,
    options: Omit<TellOptions<NoInfer<Name>>, 'ageMs'>,
  ): Promise<void>;
  /**
   * Records what a server reports about the quota of a key, and closes no call. Use it for what other clients receive, and
   * for requests that only read the quota.
   *
   * @param key One key for all limits of {@link toldQuota}, or one for each of some of them.
   * @throws The same as with a decision.
   */
  async tell<Own extends Limits = Given>(
    key: SomeKeysOn<Own>,
    options: Omit<TellOptions<NameOf<Own>>, 'cost' | 'keepOpen'> & Pick<CheckOptions<Own>, 'limits'>,
  ): Promise<void>;
  async tell(subject: unknown, options: TellOptions & Pick<CheckOptions, 'limits'>): Promise<void> {
    validateOptionNames('tell', options, ['told', 'cost', 'keepOpen', 'ageMs', 'limits']);
    const { told = {}, cost = {}, keepOpen = false, ageMs, limits } = options;
    if (readReceipt(subject) === NO_DECISION) {
      for (const name of ['cost', 'keepOpen'] as const) {
        const value = options[name];
        if (value !== undefined) throw invalidOption(name, 'absent, because a key closes no call', value);
      }
      await this.#tellKey(subject, told, ageMs ?? 0, limits);
      return;
    }
    if (ageMs !== undefined) throw invalidOption('ageMs', 'absent, because the decision knows it', ageMs);
    validateBoolean('keepOpen', keepOpen);
    await tellDecision(subject as Decision, { told, cost, keepOpen });
  }

  /** Like `close` of a `RateLimiter`. */
  override async close(): Promise<void> {
    await super.close();
    if (this.#ownsStore) await this.#store.close?.();
  }

  async #tellKey(key: unknown, told: object, ageMs: number, limits: Limits | undefined): Promise<void> {
    const plan = selectLimits(this.#plans.of({ limits }), key);
    const rules = typeof key === 'string' ? plan.rules.filter(({ limit }) => isTellable(limit)) : plan.rules;
    const tellings = toTellings(rules, told, ageMs);
    const names = Object.keys(tellings);
    if (names.length === 0) return;
    const tellingPlan = { ...plan, rules: plan.rules.filter(({ name }) => names.includes(name)) };
    const ownKey = typeof key === 'string' ? key : Object.fromEntries(names.map((name) => [name, (key as Keys)[name]]));
    await this.charge(ownKey as never, { limits: (isLimit(limits) ? tellings['default'] : tellings) as never });
    wakeWaiters(this.#store, () => namesOf(this.#store, tellingPlan, resolveKeys(tellingPlan, ownKey)));
  }
}

type Keys = Readonly<Record<string, string>>;
