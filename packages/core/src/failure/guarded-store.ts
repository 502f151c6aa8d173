import type { Decision } from '../decision/decision.js';
import { readReceipt, recordedHitsOf } from '../decision/receipt.js';
import { degrade, resultWithoutState, toDecision } from '../decision/to-decision.js';
import { closesUsedUp, isConstant, isLimit, type Limit } from '../limits/limit.js';
import type { MemoryStore } from '../memory/memory-store.js';
import { type StoredCall, toPlan } from '../plan/constant-limits.js';
import type { LimitsFrom, ParsedLimits } from '../plan/keys-and-limits.js';
import { parseLimits } from '../plan/parse-limits.js';
import type { Costs, Keys, Plan, SettledCosts } from '../plan/plan.js';
import { decideConstants, queueWithoutConstants } from '../store/decide-constants.js';
import { namesOf } from '../store/quota-waiters.js';
import type {
  GuardedStore as Guarded,
  LimitedReceipt,
  OnStoreError,
  Store,
  StoreGuard,
  StoreInspection,
  StoreWaiting,
} from '../store/store.js';
import type { Clock } from '../time/clock.js';
import { type Awaitable, isThenable } from '../util/awaitable.js';
import { unsupported } from '../validation/errors.js';
import { invalidOption } from '../validation/validate.js';
import { CallGuard, type FailureHandler, RETHROW } from './call-guard.js';
import type { StoreError } from './store-error.js';

/** What the counterpart of a limit of `Infinity` should be. */
const UNLIMITED_FALLBACK = 'Infinity like its counterpart, whose checks call no store that could fail';

/** What `blockFor` of a fallback limit should be whose counterpart has none. */
const UNBLOCKED_FALLBACK = 'no value, because its counterpart in `limits` has none';

/** The `guard` of every store that may fail. */
export const guardStore: StoreGuard = (store, timeoutMs, policy) => new GuardedStore(store, timeoutMs, policy);

/**
 * Wraps a store, so that each call settles by its deadline. If the store fails, exceeds the timeout or is known to be
 * down, the policy decides.
 */
class GuardedStore implements Guarded {
  readonly #decisions: CallGuard<DecidingCall, Decision>;
  /** Whether a settlement or a release that is lost is an error. */
  readonly #onLost: FailureHandler<void>;
  readonly backend: object;
  readonly clock: Clock | undefined;
  /** The queue of the store handles its failures. */
  readonly waiting: StoreWaiting | undefined;
  /**
   * Renews leases of one part of the store. Those in the fallback memory never expire. A renewal has no deadline, because it
   * still extends the leases when it is late.
   */
  declare readonly renew?: NonNullable<Store['renew']>;

  constructor(
    private readonly store: Store,
    timeoutMs: number,
    private readonly policy: OnStoreError,
  ) {
    this.backend = store.backend ?? store;
    this.clock = store.clock;
    this.waiting = store.waiting && queueWithoutConstants(store, store.waiting);
    this.#decisions = new CallGuard(store, timeoutMs, {
      partOf: store.partOf && (({ plan, keys }) => store.partOf!(plan, keys)),
      send: ({ operation, plan, keys, costs }) => store[operation]!(plan, keys, costs),
      probe: ({ plan, keys }) => store.peek(plan, keys, 1),
      onlyReads: ({ operation }) => operation === 'peek',
      onFailure: (error, call) => decideByPolicy(policy, error, () => this.#fallback, call),
      onLate: (decision, { operation, plan }) => {
        if (operation === 'check' && decision.allowed) endLateCheck(store, policy, plan, readReceipt(decision));
      },
    });
    this.#onLost = policy === 'throw' ? RETHROW : { onFailure() {} };
    if (store.renew !== undefined) {
      this.renew = (receipts) => {
        const renewed = store.renew!(receipts);
        return isThenable(renewed) ? this.#decisions.watch(renewed, this.partOfReceipt(receipts[0])) : renewed;
      };
    }
  }

  check(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    return this.#decisions.run({ operation: 'check', plan, keys, costs });
  }

  peek(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    return this.#decisions.run({ operation: 'peek', plan, keys, costs });
  }

  charge(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    if (this.store.charge === undefined) throw unsupported('charge');
    return this.#decisions.run({ operation: 'charge', plan, keys, costs });
  }

  withFallback(plan: Plan, limits: ParsedLimits, fallbackLimits: LimitsFrom<ParsedLimits>): Plan {
    if (this.policy === 'fallback') return withFallbackPlan(plan, limits, fallbackLimits);
    throw invalidOption('onStoreError', "'fallback' with `fallbackLimits`", this.policy);
  }

  /** See `partOf` of {@link Store}. */
  partOfReceipt(receipt: unknown): string {
    return this.store.partOfReceipt?.(receipt) ?? '';
  }

  namesOf(plan: Plan, keys: Keys): readonly string[] {
    return namesOf(this.store, plan, keys);
  }

  /** Callers do not wait for the fallback memory. They retry when the store may have recovered. */
  namesOfReceipt(receipt: unknown): readonly string[] {
    return receipt instanceof FallbackReceipt ? [] : (this.store.namesOfReceipt?.(receipt) ?? []);
  }

  /**
   * Settles in the store or in the fallback memory. If the store fails, the settlement is lost. That is an error only
   * with the policy `'throw'`.
   */
  settle(receipt: unknown, costs: SettledCosts): Awaitable<void> {
    if (receipt instanceof FallbackReceipt) return this.#fallback.settle(receipt.receipt, costs);
    if (this.store.settle === undefined) throw unsupported('settle');
    return this.#guard(this.store.settle(receipt, costs), receipt, this.#onLost);
  }

  /** Releases slots in the store or in the fallback memory. If the store fails, they are free after one lease. */
  release(receipt: unknown): Awaitable<void> {
    if (receipt instanceof FallbackReceipt) return this.#fallback.release(receipt.receipt);
    if (this.store.release === undefined) throw unsupported('release');
    return this.#guard(this.store.release(receipt), receipt, this.#onLost);
  }

  /** Refunds in the store or in the fallback memory. If the store fails, the hits stay recorded. */
  refund(receipt: unknown): Awaitable<void> {
    if (receipt instanceof FallbackReceipt) return this.#fallback.refund(receipt.receipt);
    return this.#guard(this.store.refund(receipt), receipt, RETHROW);
  }

  /** Drops the keys in the store and in the fallback memory. Rejects if the store fails, whatever the policy is. */
  reset(plan: Plan, keys: Keys): Awaitable<void> {
    this.#decisions.health.resetFallback(plan, keys);
    const part = this.store.partOf?.(plan, keys) ?? '';
    return this.#decisions.guard(this.store.reset(plan, keys), part, RETHROW);
  }

  /** Failures of an inspection are no outage, because they say nothing about checks. */
  get inspection(): StoreInspection | undefined {
    return this.store.inspection;
  }

  get #fallback(): MemoryStore {
    return this.#decisions.health.fallback;
  }

  /** Guards a call that changes what the check with this receipt recorded. */
  #guard<Result>(sent: Awaitable<Result>, receipt: unknown, handler: FailureHandler<Result>): Awaitable<Result> {
    return this.#decisions.guard(sent, this.partOfReceipt(receipt), handler);
  }
}

/**
 * Frees slots and closes calls that no caller has, because the policy has decided their check. A policy that may have let the
 * caller go on leaves its units used. Otherwise the call counts as never sent. Reserved units come back after one lease.
 */
function endLateCheck(store: Store, policy: OnStoreError, { rules }: Plan, receipt: unknown): void {
  if (receipt === undefined) return;
  const isSent = policy === 'allow' || policy === 'fallback';
  const end = (operation: 'release' | 'refund', isEnded: (limit: Limit) => boolean) => {
    const names = rules.filter(({ limit }) => isEnded(limit)).map(({ name }) => name);
    if (names.length === 0) return;
    const divided = divideReceipt(receipt, names) ?? receipt;
    // If that fails, they end with their leases.
    new Promise((resolve) => resolve(store[operation]?.(divided))).catch(() => {});
  };
  const fateOf = (limit: Limit) => limit.onLateReply ?? 'keep';
  end('release', (limit) => fateOf(limit) === 'release' || (isSent && fateOf(limit) === 'refund'));
  end('refund', (limit) => !isSent && fateOf(limit) === 'refund');
}

/**
 * Returns the plan of these limits with one that decides by `fallbackLimits` while the store fails. The algorithms are the same,
 * so that the keys, the costs and the receipts of a plan fit its fallback.
 *
 * @throws TypeError if `fallbackLimits` lacks one of the limits, has another algorithm for it, or restricts one of `Infinity`, for which
 * no store is called that could fail.
 */
function withFallbackPlan(plan: Plan, limits: ParsedLimits, fallbackLimits: LimitsFrom<ParsedLimits>): Plan {
  const given = parseLimits(
    typeof fallbackLimits === 'function' ? fallbackLimits(limits) : fallbackLimits,
    'fallbackLimits',
  );
  const rules = plan.rules.map((rule) => {
    const limit = isLimit(limits) ? given : Object(given)[rule.name];
    // The limit of this block is valid, because its rule comes first.
    if (closesUsedUp(rule.limit)) return { ...rule, limit: isConstant(limit) ? limit : (limit.blockFor ?? rule.limit) };
    const option = isLimit(limits) ? 'fallbackLimits' : `fallbackLimits.${rule.name}`;
    if (isLimit(limit) && limit.algorithm === rule.limit.algorithm) {
      if (rule.limit.limit === Infinity && limit.limit !== Infinity)
        throw invalidOption(option, UNLIMITED_FALLBACK, limit.limit);
      if (limit.blockFor && !rule.limit.blockFor)
        throw invalidOption(`${option}.blockFor`, UNBLOCKED_FALLBACK, limit.blockFor.windowMicros / 1000);
      return { ...rule, limit };
    }
    throw invalidOption(
      option,
      `a limit with the algorithm of its counterpart in \`limits\`, ${rule.limit.algorithm}`,
      limit,
    );
  });
  return { ...plan, fallback: toPlan(plan.prefix, rules) };
}

/**
 * Returns a receipt for what the check recorded in the limits of these names, or `undefined` if the receipt cannot be divided. The
 * receipts of core have no method for this, because each app with a limiter in memory would contain it.
 */
export function divideReceipt(receipt: unknown, names: readonly string[]): unknown {
  if (receipt instanceof FallbackReceipt) return new FallbackReceipt(divideReceipt(receipt.receipt, names));
  const hits = recordedHitsOf(receipt);
  if (hits === undefined) return (receipt as Partial<LimitedReceipt>).only?.(names);
  return hits.filter(({ rule }) => names.includes(rule.name));
}

/** The wait of a rejection by the policy `'deny'`, in milliseconds. */
const DENY_RETRY_MS = 1000;

/** A call of a store that returns a decision. */
interface DecidingCall extends StoredCall {
  readonly operation: 'check' | 'peek' | 'charge';
}

/** A receipt of the fallback memory. A store's own receipt never has this class. */
export class FallbackReceipt {
  constructor(
    /** The receipt of the store in memory. */
    readonly receipt: unknown,
  ) {}
}

/**
 * Decides without the store, by the policy.
 *
 * @throws StoreError if the policy is `'throw'`, or if it decides without recording and the call closes keys. No caller may believe that
 * of a key that stays open.
 */
function decideByPolicy(
  policy: OnStoreError,
  error: StoreError,
  memory: () => MemoryStore,
  { operation, plan, keys, costs }: DecidingCall,
): Decision {
  if (
    policy === 'throw' ||
    (policy !== 'fallback' && operation === 'charge' && plan.rules.every(({ limit }) => limit.testsOnly === false))
  )
    throw error;
  if (policy !== 'fallback') return decideUniformly(policy, plan);
  const used = plan.fallback ?? plan;
  const store = used.hasConstants ? decideConstants(memory()) : memory();
  return degrade(
    store[operation]!(used, keys, costs) as Decision,
    'fallback',
    (receipt) => new FallbackReceipt(receipt),
  );
}

/** Decides the same for all keys: as if all of the quota were free, or none of it. A limit that never rejects still does not. */
function decideUniformly(policy: 'allow' | 'deny', plan: Plan): Decision {
  const results = plan.rules.map(({ limit }) => {
    const allowed = policy === 'allow' || limit.enforced === false;
    return resultWithoutState(limit, allowed, allowed ? 0 : DENY_RETRY_MS);
  });
  return degrade(toDecision(plan.rules, results, undefined), policy);
}
