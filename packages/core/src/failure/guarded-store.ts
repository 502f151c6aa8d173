import { type Awaitable, isThenable } from '../awaitable.js';
import type { Decision } from '../decision.js';
import type { Keys, Plan } from '../plan.js';
import type { Store } from '../store.js';
import { Deadlines } from './deadlines.js';
import { decideByPolicy, FallbackReceipt, type OnStoreError } from './fallback.js';
import { guardCall, probe, rethrow } from './guarded-call.js';
import { type StoreError, storeDownError } from './store-error.js';
import { type StoreHealth, StoreHealths } from './store-health.js';

/**
 * A store whose every call is settled in time: by its answer, or when it fails, is late or known to be down, as the
 * policy says. Answers that come at once are passed on as they are; so is what is thrown at once, for that is misuse.
 */
export class GuardedStore implements Store {
  readonly #store: Store;
  readonly #policy: OnStoreError;
  readonly #deadlines: Deadlines;
  readonly #healths: StoreHealths;
  /** Of a store that has no parts. */
  readonly #health: StoreHealth | undefined;

  constructor(store: Store, timeoutMs: number, policy: OnStoreError) {
    this.#store = store;
    this.#policy = policy;
    this.#deadlines = new Deadlines(timeoutMs);
    this.#healths = StoreHealths.of(store);
    this.#health = store.partOf === undefined ? this.#healths.ofPart('') : undefined;
  }

  check(plan: Plan, keys: Keys, cost: number): Awaitable<Decision> {
    return this.#decide('check', plan, keys, cost);
  }

  peek(plan: Plan, keys: Keys, cost: number): Awaitable<Decision> {
    return this.#decide('peek', plan, keys, cost);
  }

  /** Takes back what the store or the memory recorded. What a failed store was to take back stays recorded. */
  refund(receipt: unknown): Awaitable<void> {
    if (receipt instanceof FallbackReceipt) return this.#healths.fallback.refund(receipt.receipt);
    const health = this.#health ?? this.#healths.ofPart(this.#store.partOfReceipt?.(receipt) ?? '');
    return guardCall(this.#store.refund(receipt), this.#deadlines, health, rethrow);
  }

  /** Forgets the keys in the memory that stands in and in the store; rejects when it cannot, whatever the policy is. */
  reset(plan: Plan, keys: Keys): Awaitable<void> {
    this.#healths.resetFallback(plan, keys);
    return guardCall(this.#store.reset(plan, keys), this.#deadlines, this.#healthOf(plan, keys), rethrow);
  }

  #decide(operation: 'check' | 'peek', plan: Plan, keys: Keys, cost: number): Awaitable<Decision> {
    const health = this.#healthOf(plan, keys);
    if (health.isDownFor(this.#deadlines.timeoutMs)) {
      probe(health, () => this.#store.peek(plan, keys, cost)); // Records nothing.
      return this.#decideByPolicy(
        storeDownError(this.#deadlines.timeoutMs, health.connection),
        operation,
        plan,
        keys,
        cost,
      );
    }
    const answer = this.#store[operation](plan, keys, cost);
    if (!isThenable(answer)) return answer; // Without making what only a later answer needs.
    return guardCall(answer, this.#deadlines, health, (error) =>
      this.#decideByPolicy(error, operation, plan, keys, cost),
    );
  }

  #healthOf(plan: Plan, keys: Keys): StoreHealth {
    return this.#health ?? this.#healths.ofPart(this.#store.partOf!(plan, keys));
  }

  #decideByPolicy(error: StoreError, operation: 'check' | 'peek', plan: Plan, keys: Keys, cost: number): Decision {
    return decideByPolicy(this.#policy, error, () => this.#healths.fallback, operation, plan, keys, cost);
  }
}
