import type { Decision } from '../decision/decision.js';
import type { CheckOptions } from '../limiter/rate-limiter-options.js';
import { newestEnd, takeUnits, unitsAfter } from '../limits/bucket-counts.js';
import { COUNT } from '../limits/fixed-window.js';
import { removeNewest } from '../limits/hit-log.js';
import { closesUsedUp, isConstant, type Limit, OVERDRAW, type State } from '../limits/limit.js';
import { mulDivUp } from '../limits/mul-div.js';
import { CURRENT, PREVIOUS } from '../limits/sliding-window-counter.js';
import { FULL, LATEST, PARTS, REFUNDED, type TokenBucket } from '../limits/token-bucket.js';
import type { Inspected } from '../observe/keys-of.js';
import { toPlan } from '../plan/constant-limits.js';
import { resolveKeys, selectLimits } from '../plan/create-plan.js';
import type { SomeKeys } from '../plan/keys-and-limits.js';
import type { Plan, Rule } from '../plan/plan.js';
import { namesOf, wakeWaiters } from '../store/quota-waiters.js';
import { withMembers } from '../util/with-members.js';
import { withCode } from '../validation/error-codes.js';
import { unsupported } from '../validation/errors.js';
import { validateBoolean, validateOptionNames, validatePositiveInteger } from '../validation/validate.js';

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
 * Gives recorded units of a key back, for example when support makes up for a mistake: in each limit `units` of those that are used, or
 * all if fewer are used. The newest come back first, because they would count longest. A key that has used nothing stays as it is. All
 * limits change in one atomic step, and callers of `wait` for the key may start.
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
 * @throws TypeError, RangeError for an invalid key, number or option. TypeError with the code
 * `ERR_ROLLGATE_UNSUPPORTED_OPERATION` if a record names a limit that cannot be credited, if no limit of the limiter can be, or if a
 * `LeasingStore` leases one of them. A `StoreError` if the store fails and `onStoreError` is `'throw'`. The promise rejects with it.
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
  limiter: Inspected,
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
  try {
    return (await store.charge(plan, keys, units)) as Decision<Name>;
  } finally {
    wakeWaiters(store, () => namesOf(store, plan, keys)); // A store whose reply is late may have given the units back, too.
  }
}

/** What gives back units of limits that `credit` cannot give back. */
const ALTERNATIVES: Readonly<Record<string, string>> = {
  concurrency: 'Use `release` with the decision that holds the slots',
  block: 'Use `reset`, which opens the key',
  'leaky-bucket': 'Use `refund` with the decision of the caller that gives up its start',
  'reported-quota': 'Its server counts, and reports the new numbers with its next response',
};

/**
 * Returns the plan whose charge gives units back.
 *
 * @throws TypeError if no limit has units to give back, or if `key` names one without.
 */
function toCreditingPlan(plan: Plan, key: unknown, isBeyond: boolean): Plan {
  const { prefix, rules, fallback } = selectLimits(plan, key);
  const hasUnits = ({ limit }: Rule, index: number): boolean =>
    giveBackOf(closesUsedUp(limit) ? rules[index - 1]!.limit : limit, isBeyond) !== undefined;
  const without = rules.find((rule, index) => !hasUnits(rule, index));
  const isRecord = typeof key === 'object' && key !== null;
  if (without !== undefined && (isRecord || !rules.some(hasUnits))) throw notGivenBack(without, isBeyond);
  // The rules of an outage stay beside those that they replace, whatever their algorithms are.
  const toCrediting = (all: readonly Rule[]): Rule[] =>
    all.filter((_, index) => hasUnits(rules[index]!, index)).map((rule) => toCreditingRule(rule, isBeyond));
  return toPlan(prefix, toCrediting(rules), fallback && toPlan(prefix, toCrediting(fallback.rules)));
}

/** Returns the rule whose charge gives units back. A limit that decides without a state stays, and so does what closes the keys of one. */
function toCreditingRule(rule: Rule, isBeyond: boolean): Rule {
  const { limit } = rule;
  if (isConstant(limit) || closesUsedUp(limit)) return rule;
  const giveBack = giveBackOf(limit, isBeyond);
  const apply: Limit['apply'] = (state, nowMicros, cost, verdict, mode) => {
    if (mode !== OVERDRAW) return limit.apply(state, nowMicros, cost, verdict, mode);
    giveBack?.(state, nowMicros, cost);
    verdict.expiresMicros = limit.expiresMicros(state);
  };
  return { ...rule, limit: withMembers(limit, { apply, givesBack: isBeyond ? 'beyond' : 'used' }) };
}

function notGivenBack({ name, limit: { algorithm } }: Rule, isBeyond: boolean): TypeError {
  const fix = ALTERNATIVES[algorithm] ?? 'Use `reset`';
  const message = isBeyond
    ? `Expected \`beyond\` for a \`calendarWindow\`, which has periods, got it for \`${name}\` with the algorithm ${algorithm}. Leave out \`beyond\`, or name only limits with periods in \`key\``
    : `Expected a limit whose recorded units \`credit\` can give back, got \`${name}\` with the algorithm ${algorithm}. ${fix}`;
  return withCode('ERR_ROLLGATE_UNSUPPORTED_OPERATION', new TypeError(message));
}

/** Gives up to `units` recorded units of a state back, the newest first. */
type GiveBack = (state: State, nowMicros: number, units: number) => void;

/** By the algorithm, for limits whose units are interchangeable or in order. */
const BY_ALGORITHM: Readonly<Record<string, (...credit: [...Parameters<GiveBack>, limit: Limit]) => unknown>> = {
  'rolling-window': (state, _, units) => removeNewest(state, units),
  'fixed-window': (state, _, units) => take(state, COUNT, units),
  'sliding-window-counter': (state, _, units) => take(state, PREVIOUS, take(state, CURRENT, units)),
  'bucketed-window': giveBackOfBuckets,
  'token-bucket': returnTokens,
};

/**
 * Returns how to give units of the limit back, or `undefined` if it has none to give back.
 *
 * @param isBeyond Whether units that exceed those are added to the present period.
 */
function giveBackOf(limit: Limit, isBeyond: boolean): GiveBack | undefined {
  if (limit.extend) return isBeyond ? (...credit) => limit.extend!(...credit) : giveBackOfPeriod(limit);
  const giveBack = isBeyond ? undefined : BY_ALGORITHM[limit.algorithm];
  return giveBack && ((...credit) => void giveBack(...credit, limit));
}

/** Takes up to `units` from a count of a state. Returns how many are left to take. */
function take({ numbers, start }: State, index: number, units: number): number {
  const taken = Math.min(units, numbers[start + index]!);
  numbers[start + index]! -= taken;
  return units - taken;
}

function giveBackOfBuckets(state: State, _nowMicros: number, units: number): void {
  const recorded = unitsAfter(state, -Infinity);
  const kept = Math.max(0, recorded - units);
  for (let left = recorded; left > kept; left = unitsAfter(state, -Infinity)) {
    takeUnits(state, newestEnd(state), left - kept);
  }
}

/** Fills the bucket by so many of the tokens that are missing, up to now or the latest action after a clock step back. */
function returnTokens(state: State, nowMicros: number, units: number, limit: Limit): void {
  const { tokens, micros } = limit as TokenBucket;
  const { numbers, start } = state;
  const latestMicros = Math.max(nowMicros, numbers[start + LATEST]!);
  const parts = Math.min(numbers[start + PARTS]!, tokens - 1);
  const untilFull = numbers[start + FULL]! - latestMicros;
  if (untilFull < 0 || untilFull + parts === 0) return;
  if (units < mulDivUp(untilFull, tokens, micros, parts)) {
    const atMicros = latestMicros + numbers[start + REFUNDED]!;
    limit.refund(state, nowMicros, { atMicros, recordedMicros: latestMicros, cost: units }, 0);
    return;
  }
  numbers[start + REFUNDED]! += untilFull + (parts > 0 ? 1 : 0);
  numbers[start + FULL] = latestMicros;
  numbers[start + PARTS] = 0;
}

/** The units of a period are interchangeable. Those of reservations stay, because their holders settle them. */
function giveBackOfPeriod(limit: Limit): GiveBack {
  return (state, nowMicros, units) => {
    const cost = Math.min(units, limit.usageOf!(state, nowMicros).spent);
    limit.refund(state, nowMicros, { atMicros: nowMicros, recordedMicros: nowMicros, cost }, 0);
  };
}
