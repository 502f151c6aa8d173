import { type Awaitable, isThenable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import { takeReceipt } from '../decision/take-receipt.js';
import type { Costs, Keys, Plan, SettledCosts } from '../plan/plan.js';
import type { OnStoreError } from '../store/on-store-error.js';
import { namesOf } from '../store/quota-waiters.js';
import type { Store, StoreGuard } from '../store/store.js';
import type { Clock } from '../time/clock.js';
import { timersOf } from '../time/clock-timers.js';
import { unsupported } from '../validation/unsupported.js';
import { Deadlines } from './deadlines.js';
import { type DecidingOperation, decideByPolicy, FallbackReceipt } from './fallback.js';
import { guardCall, probe, rethrow } from './guarded-call.js';
import type { PartHealth } from './part-health.js';
import { type StoreError, storeDownError } from './store-error.js';
import { StoreHealth } from './store-health.js';

/** The `guard` of every store that may fail. */
export const guardStore: StoreGuard = (store, timeoutMs, policy) => new GuardedStore(store, timeoutMs, policy);

/**
 * Wraps a store, so that each call settles by its deadline. If the store fails, exceeds the timeout or is known to be
 * down, the policy decides. Synchronous results and errors pass unchanged, because a synchronous error is misuse.
 */
class GuardedStore implements Store {
  readonly #store: Store;
  readonly #policy: OnStoreError;
  readonly #deadlines: Deadlines;
  readonly #health: StoreHealth;
  /** Renews leases of one part of the store. Those in the fallback memory never expire. */
  declare readonly renew?: NonNullable<Store['renew']>;
  /** The health of a store without parts. */
  readonly #onlyPart: PartHealth | undefined;

  constructor(store: Store, timeoutMs: number, policy: OnStoreError) {
    this.#store = store;
    this.#policy = policy;
    this.#deadlines = new Deadlines(timeoutMs, timersOf(store.clock));
    this.#health = StoreHealth.of(store);
    this.#onlyPart = store.partOf === undefined ? this.#health.ofPart('') : undefined;
    if (store.renew !== undefined) this.renew = (receipts) => this.#renew(receipts);
  }

  check(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    return this.#decide('check', plan, keys, costs);
  }

  peek(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    return this.#decide('peek', plan, keys, costs);
  }

  get backend(): object {
    return this.#store.backend ?? this.#store;
  }

  get clock(): Clock | undefined {
    return this.#store.clock;
  }

  /** See `partOf` of {@link Store}. */
  partOfReceipt(receipt: unknown): string {
    return this.#store.partOfReceipt?.(receipt) ?? '';
  }

  namesOf(plan: Plan, keys: Keys): readonly string[] {
    return namesOf(this.#store, plan, keys);
  }

  /** Callers do not wait for the fallback memory. They retry when the store may have recovered. */
  namesOfReceipt(receipt: unknown): readonly string[] {
    return receipt instanceof FallbackReceipt ? [] : (this.#store.namesOfReceipt?.(receipt) ?? []);
  }

  charge(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    if (this.#store.charge === undefined) throw unsupported('charge');
    return this.#decide('charge', plan, keys, costs);
  }

  /**
   * Settles in the store or in the fallback memory. If the store fails, the settlement is lost. That is an error only
   * with the policy `'throw'`.
   */
  settle(receipt: unknown, costs: SettledCosts): Awaitable<void> {
    if (receipt instanceof FallbackReceipt) return this.#health.fallback.settle(receipt.receipt, costs);
    const onFailure = this.#policy === 'throw' ? rethrow : () => undefined;
    if (this.#store.settle === undefined) throw unsupported('settle');
    return guardCall(this.#store.settle(receipt, costs), this.#deadlines, this.#partOfReceipt(receipt), onFailure);
  }

  /** Releases slots in the store or in the fallback memory. If the store fails, they are free after one lease. */
  release(receipt: unknown): Awaitable<void> {
    if (receipt instanceof FallbackReceipt) return this.#health.fallback.release(receipt.receipt);
    if (this.#store.release === undefined) throw unsupported('release');
    const onFailure = this.#policy === 'throw' ? rethrow : () => undefined;
    return guardCall(this.#store.release(receipt), this.#deadlines, this.#partOfReceipt(receipt), onFailure);
  }

  /** Refunds in the store or in the fallback memory. If the store fails, the hits stay recorded. */
  refund(receipt: unknown): Awaitable<void> {
    if (receipt instanceof FallbackReceipt) return this.#health.fallback.refund(receipt.receipt);
    return guardCall(this.#store.refund(receipt), this.#deadlines, this.#partOfReceipt(receipt), rethrow);
  }

  /** Drops the keys in the store and in the fallback memory. Rejects if the store fails, whatever the policy is. */
  reset(plan: Plan, keys: Keys): Awaitable<void> {
    this.#health.resetFallback(plan, keys);
    const part = this.#partOf(plan, keys);
    return guardCall(this.#store.reset(plan, keys), this.#deadlines, part, rethrow);
  }

  #renew(receipts: readonly unknown[]): Awaitable<readonly unknown[]> {
    return guardCall(this.#store.renew!(receipts), this.#deadlines, this.#partOfReceipt(receipts[0]), rethrow);
  }

  #decide(operation: DecidingOperation, plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision> {
    const part = this.#partOf(plan, keys);
    if (part.isDownFor(this.#deadlines.timeoutMs)) {
      probe(part, () => this.#store.peek(plan, keys, 1)); // Records nothing.
      return this.#decideWithoutStore(
        storeDownError(this.#deadlines.timeoutMs, part.connection),
        operation,
        plan,
        keys,
        costs,
      );
    }
    const result = this.#store[operation]!(plan, keys, costs);
    if (!isThenable(result)) return result; // Only a promise needs the callback below.
    const onFailure = (error: StoreError) => this.#decideWithoutStore(error, operation, plan, keys, costs);
    const onLate = plan.hasSlots && operation === 'check' ? (late: Decision) => this.#releaseLate(late) : undefined;
    return guardCall(result, this.#deadlines, part, onFailure, onLate);
  }

  /** Frees slots that no caller holds, because the policy has decided their check. */
  #releaseLate(decision: Decision): void {
    const receipt = takeReceipt(decision);
    if (!decision.allowed || receipt === undefined) return;
    try {
      Promise.resolve(this.#store.release?.(receipt)).catch(() => {}); // They are free after one lease in any case.
    } catch {}
  }

  #partOfReceipt(receipt: unknown): PartHealth {
    return this.#onlyPart ?? this.#health.ofPart(this.partOfReceipt(receipt));
  }

  #partOf(plan: Plan, keys: Keys): PartHealth {
    return this.#onlyPart ?? this.#health.ofPart(this.#store.partOf!(plan, keys));
  }

  #decideWithoutStore(error: StoreError, operation: DecidingOperation, plan: Plan, keys: Keys, costs: Costs): Decision {
    return decideByPolicy(this.#policy, error, () => this.#health.fallback, operation, plan, keys, costs);
  }
}
