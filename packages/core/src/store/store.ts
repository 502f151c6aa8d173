import type { Awaitable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import type { CounterAlgorithm } from '../limits/rolling-counter-algorithm.js';
import type { Limits, LimitsFrom } from '../plan/create-plan.js';
import type { Costs, Keys, Plan, SettledCosts } from '../plan/plan.js';
import type { Clock } from '../time/clock.js';
import type { OnStoreError } from './on-store-error.js';
import type { StoreWaiting } from './store-waiting.js';

/** Wraps a store, so that each of its calls settles within `timeoutMs`. If it fails, `policy` decides. */
export type StoreGuard = (store: Store, timeoutMs: number, policy: OnStoreError) => GuardedStore;

/** A store in its guard. */
export interface GuardedStore extends Store {
  /**
   * Adds the limits that decide during an outage to a plan. Without this method, `fallbackLimits` is an error.
   *
   * @throws TypeError if they do not match `limits`, or if the policy does not use them.
   */
  withFallback?(plan: Plan, limits: Limits, fallbackLimits: LimitsFrom<Limits>): Plan;
}

/**
 * Keeps the state of keys. `createStore` of `@rollgate/core/store` creates one from a function that reads and writes
 * numbers. A store holds no configuration, because limits come with every call. It owns the clock. Its
 * methods may return a value or a promise, and the limiter returns the same to its caller.
 *
 * An error that a method throws synchronously is misuse, and the caller gets it. A promise that rejects is a failure of
 * the store, so the limiter's `onStoreError` decides. An error with a code of Rollgate, such as that of `readMicros`, is
 * misuse here, too.
 *
 * Rules that every store must follow, in addition to the comments of `Limit`:
 *
 * - **Implausible states are deleted.** Before each check and each peek, call `isPlausible(state, now)` of the current
 *   call's limit, not of the limit that recorded. If it returns `false`, delete the state, even in a peek. Such a state comes
 *   from a clock that was far ahead, and must not count again when time gets there.
 * - **States expire.** When `expiresMicros(state)` is not after `now`, the key has its full quota. The next record starts
 *   a new state, and receipts of the old one refund nothing. Keep an expired state for up to a minute, because a clock may
 *   step back.
 * - **Waits end when the state expires.** Cap `waitMicros` and `resetMicros` by `expiresMicros(state) - now`, because the
 *   limit that recorded last may have a shorter window. An expired state rejects nothing. If the cost exceeds the current
 *   limit's quota, the wait is `Infinity` all the same.
 * - **A decision shows the state after it.** For a limit that recorded, use the verdict after `record`. Its wait
 *   is 0 if the check was allowed. If one limit rejected, `delayMs` is 0 in all. A limit that rejected has the `reason`
 *   of the same verdict as its wait. A limit that allowed has none.
 * - **A rule with cost 0 only reports.** It never rejects, delays or records. Its figures are those of a peek with cost 1.
 *
 * A complete store has `settle`, `charge` and `release`, and `renew` if other processes use its data. All stores of
 * Rollgate are complete, and the conformance suite requires it. The methods are optional, because a store without them
 * works for limiters that never call them. Such a call throws `ERR_ROLLGATE_UNSUPPORTED_OPERATION`.
 *
 * Every method is atomic. A check tests all rules, then records in all of them or in none. Rules with `countRejected`
 * also record a rejected attempt.
 */
export interface Store {
  /** Decides and records. */
  check(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision>;
  /** Like `check`, but records nothing. */
  peek(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision>;
  /**
   * Replaces what the check with this receipt recorded. If the settled cost of a rule is lower, it returns the last units
   * of the hit, as far as they still count. If it is higher, it records the difference at the present time. This
   * overdraft may exceed what is free, and the hit may have expired. A receipt has all rules of its plan, also those with
   * cost 0. The limiter settles or refunds a receipt once. A `LeasingStore` settles it again at a lower cost, after the
   * settlement before it has succeeded.
   */
  settle?(receipt: unknown, costs: SettledCosts): Awaitable<void>;
  /** Records without deciding, like an overdraft. Returns the decision of a peek with cost 1 right after. */
  charge?(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision>;
  /** Refunds what the check with this receipt recorded, as far as it still counts. The same as a settled cost of 0. */
  refund(receipt: unknown): Awaitable<void>;
  /**
   * Frees the slots that the check with this receipt took, and leaves its other limits alone. The limiter calls it once
   * for a receipt, before or after a settlement.
   */
  release?(receipt: unknown): Awaitable<void>;
  /**
   * For a store that other processes use, too. Extends the leases of these receipts, in one call. A lease that has expired
   * takes its slots again if they are free. Returns the receipts whose slots are lost. Without this method, slots must stay
   * taken until they are released, as in `MemoryStore`.
   */
  renew?(receipts: readonly unknown[]): Awaitable<readonly unknown[]>;
  /** Drops the state of the keys. */
  reset(plan: Plan, keys: Keys): Awaitable<void>;
  /**
   * `guardStore` of `@rollgate/core/store`, which applies the limiter's `timeout` and `onStoreError`. The store brings it, so
   * that bundles of apps without such a store do not contain it. On Node, Bun and Deno it is the default. Elsewhere, each
   * store needs it, except a `MemoryStore`.
   */
  readonly guard?: StoreGuard;
  /** The clock by which the store decides, if it reads one in this process. */
  readonly clock?: Clock | undefined;
  /** An object that identifies the data, such as a client. Stores that use the same rows have the same `backend`. */
  readonly backend?: object;
  /**
   * For a store whose parts fail independently, such as the nodes of a Cluster. Returns the name of the part that holds
   * these keys. The limiter then keeps using the other parts while one is down.
   */
  partOf?(plan: Plan, keys: Keys): string;
  /** Like `partOf`, for a receipt. */
  partOfReceipt?(receipt: unknown): string;
  /**
   * Names the states of these keys, one for each rule of the plan, in its order. A call that frees quota wakes the callers of
   * `wait` that need a state of the same name. By default, a name consists of the rule's namespace and the key.
   */
  namesOf?(plan: Plan, keys: Keys): readonly string[];
  /**
   * Like `namesOf`, for the states in which the check with this receipt recorded. Without this method, refunds and
   * settlements wake only the callers that wait for slots. The others wake at the end of their wait.
   */
  namesOfReceipt?(receipt: unknown): readonly string[];
  /** The queues of `wait`, if the processes that use the data share them. By default, each process has its own queues. */
  readonly waiting?: StoreWaiting | undefined;
  /**
   * For a store on a network, returns the state of the connection to a part, or of all connections if `part` is empty.
   * Error messages contain it.
   */
  connectionTo?(part: string): StoreConnection;
  /** Closes the store's resources. */
  close?(): Awaitable<void>;
}

/** The state of a client's connection. */
export interface StoreConnection {
  /** The client's name for the state, such as `reconnecting`. */
  readonly state: string;
  /** The last error of the connection since it last worked. */
  readonly lastError?: Error | undefined;
}

/** A store for a `RollingCounter`. */
export interface CountingStore {
  /**
   * Adds `units`, which may be 0, to the subject. Returns the subject's units in the last `intervalMicros`. Both happen
   * in one atomic step.
   */
  addCount(counter: CounterAlgorithm, subject: string, units: number, intervalMicros: number): Awaitable<number>;
  /** Like `clock` of a {@link Store}. */
  readonly clock?: Clock | undefined;
  /** Like `partOf` of a {@link Store}, for a subject. */
  partOfSubject?(counter: CounterAlgorithm, subject: string): string;
  /** Like `connectionTo` of a {@link Store}. */
  connectionTo?(part: string): StoreConnection;
}
