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
import { reportDecision, toReportingLimits } from './report.js';
import { isReportable, type Reported } from './reported.js';

/** The options of {@link OutgoingLimiter.report}. */
export interface ReportOptions<Name extends string = string> {
  /**
   * What the server has reported: numbers for all limits of `reportedQuota`, or a record of numbers by limit name.
   *
   * @defaultValue nothing
   */
  reported?: Reported | { readonly [One in Name]?: Reported | undefined } | undefined;
  /**
   * The actual cost of the call, as in `settle`. Limits with numbers in `reported` ignore it, because the server has counted it.
   * Only with a decision.
   */
  cost?: Cost<Name> | undefined;
  /**
   * Whether the call stays open in the limits that have neither numbers in `reported` nor a cost in `cost`. They keep its slots and units
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
 * A `RateLimiter` for calls to an API that limits its clients. Next to your own limits, those of {@link reportedQuota} obey
 * what the server reports.
 *
 * @throws TypeError, RangeError at construction, naming the invalid option.
 * @example
 * ```ts
 * import { rollingWindow } from '@rollgate/core';
 * import { OutgoingLimiter, reportedQuota } from '@rollgate/core/outgoing';
 *
 * const limiter = new OutgoingLimiter({
 *   limits: { own: rollingWindow({ limit: 100, window: '1m' }), api: reportedQuota({ lease: '30s' }) },
 * });
 * const decision = await limiter.wait('token');
 * // Send the request, and read the headers of its response.
 * await limiter.report(decision, { reported: { remaining: 0, limit: 60, resetMs: 42_000 } });
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
   * @throws TypeError, RangeError for invalid numbers, or without a limit of {@link reportedQuota}. A `StoreError` if the store
   * fails and `onStoreError` is `'throw'`. The promise rejects with it.
   */
  async report<Name extends string>(
    decision: Decision<Name, Name>,
    options: Omit<ReportOptions<NoInfer<Name>>, 'ageMs'>,
  ): Promise<void>;
  /**
   * Records what a server reports about the quota of a key, and closes no call. Use it for what other clients receive, and
   * for requests that only read the quota.
   *
   * @param key One key for all limits of {@link reportedQuota}, or one for each of some of them.
   * @throws The same as with a decision.
   */
  async report<Own extends Limits = Given>(
    key: SomeKeysOn<Own>,
    options: Omit<ReportOptions<NameOf<Own>>, 'cost' | 'keepOpen'> & Pick<CheckOptions<Own>, 'limits'>,
  ): Promise<void>;
  async report(subject: unknown, options: ReportOptions & Pick<CheckOptions, 'limits'>): Promise<void> {
    validateOptionNames('report', options, ['reported', 'cost', 'keepOpen', 'ageMs', 'limits']);
    const { reported = {}, cost = {}, keepOpen = false, ageMs, limits } = options;
    if (readReceipt(subject) === NO_DECISION) {
      for (const name of ['cost', 'keepOpen'] as const) {
        const value = options[name];
        if (value !== undefined) throw invalidOption(name, 'absent, because a key closes no call', value);
      }
      await this.#reportKey(subject, reported, ageMs ?? 0, limits);
      return;
    }
    if (ageMs !== undefined) throw invalidOption('ageMs', 'absent, because the decision knows it', ageMs);
    validateBoolean('keepOpen', keepOpen);
    await reportDecision(subject as Decision, { reported, cost, keepOpen });
  }

  /** Like `close` of a `RateLimiter`. */
  override async close(): Promise<void> {
    await super.close();
    if (this.#ownsStore) await this.#store.close?.();
  }

  async #reportKey(key: unknown, reported: object, ageMs: number, limits: Limits | undefined): Promise<void> {
    const plan = selectLimits(this.#plans.of({ limits }), key);
    const rules = typeof key === 'string' ? plan.rules.filter(({ limit }) => isReportable(limit)) : plan.rules;
    const reportingLimits = toReportingLimits(rules, reported, ageMs);
    const names = Object.keys(reportingLimits);
    if (names.length === 0) return;
    const reportingPlan = { ...plan, rules: plan.rules.filter(({ name }) => names.includes(name)) };
    const ownKey = typeof key === 'string' ? key : Object.fromEntries(names.map((name) => [name, (key as Keys)[name]]));
    await this.charge(ownKey as never, {
      limits: (isLimit(limits) ? reportingLimits['default'] : reportingLimits) as never,
    });
    wakeWaiters(this.#store, () => namesOf(this.#store, reportingPlan, resolveKeys(reportingPlan, ownKey)));
  }
}

type Keys = Readonly<Record<string, string>>;
