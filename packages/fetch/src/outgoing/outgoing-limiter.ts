import {
  type CheckOptions,
  type Cost,
  type Decision,
  type Limits,
  type NameOf,
  RateLimiter,
  type RateLimiterOptions,
} from '@rollgate/core';
import type { SomeKeysOn } from '@rollgate/core/limits';
import {
  invalidOption,
  isLimit,
  type ParsedLimits,
  toParsedLimits,
  validateBoolean,
  validateOptionNames,
} from '@rollgate/core/store';
import { isReportable, type Reported } from './reported.js';
import { isEmpty, toReportingLimits } from './reporting-limits.js';
import { isDecision, settleByLimits } from './settle-by-limits.js';

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
 * import { OutgoingLimiter, reportedQuota } from '@rollgate/fetch/outgoing';
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
  readonly #limits: ParsedLimits | null;

  constructor(options: RateLimiterOptions<Given>) {
    super(options);
    this.#limits = options.limits === null ? null : toParsedLimits(options.limits);
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
    if (!isDecision(subject)) {
      for (const name of ['cost', 'keepOpen'] as const) {
        const value = options[name];
        if (value !== undefined) throw invalidOption(name, 'absent, because a key closes no call', value);
      }
      await this.#reportKey(subject, reported, ageMs ?? 0, limits);
      return;
    }
    if (ageMs !== undefined) throw invalidOption('ageMs', 'absent, because the decision knows it', ageMs);
    validateBoolean('keepOpen', keepOpen);
    await settleByLimits(subject, { cost, keepOpen }, (rules) =>
      keepOpen && isEmpty(reported) ? {} : toReportingLimits(rules, reported, 0),
    );
  }

  async #reportKey(key: unknown, reported: object, ageMs: number, given?: Limits): Promise<void> {
    const limits = given === undefined ? this.#limits : toParsedLimits(given);
    const named = isLimit(limits) ? { default: limits } : (limits ?? {});
    const keys = typeof key === 'object' && key !== null ? (key as Readonly<Record<string, string>>) : undefined;
    const isKnown = limits !== null && Object.keys(keys ?? {}).every((name) => Object.hasOwn(named, name));
    // A charge rejects other names.
    if (!isKnown) return void (await this.charge(key as never, { limits: (limits ?? undefined) as never }));
    const rules = Object.entries(named).map(([name, limit]) => ({ name, limit }));
    const asked = rules.filter(({ name, limit }) => (keys ? Object.hasOwn(keys, name) : isReportable(limit)));
    const reporting = toReportingLimits(asked, reported, ageMs);
    const names = Object.keys(reporting);
    if (names.length === 0) return;
    const ownKey = keys ? Object.fromEntries(names.map((name) => [name, keys[name]])) : key;
    const ownLimits = isLimit(limits) ? Object.values(reporting)[0] : reporting;
    await this.charge(ownKey as never, { limits: ownLimits as never });
  }
}
