import type { Decision } from '../decision/decision.js';
import type { LimitsFrom, ParsedLimits } from '../plan/keys-and-limits.js';
import type { Costs, Keys, Plan, SettledCosts } from '../plan/plan.js';
import type { Clock } from '../time/clock.js';
import type { Awaitable } from '../util/awaitable.js';
import type { OnStoreError, StoreConnection, StoreInspection, StoreWaiting } from './store-types.js';

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
 * - **`blockFor` closes keys.** The block of a limit is the rule behind it. A rejected check records in the block's state if its key is
 *   open, and if the limit before it rejects a cost that exceeds what remains there, but not its quota. No other operation does.
 * - **A rule with cost 0 only reports.** It never rejects, delays or records. Its figures are those of a peek with cost 1.
 *
 * The optional members are capabilities. A complete store has `settle`, `charge` and `release`, and `renew` if other
 * processes use its data. All stores of Rollgate are complete, and the conformance suite requires it. A store without them works for
 * limiters that never need them. Such a call throws `ERR_ROLLGATE_UNSUPPORTED_OPERATION`.
 *
 * Every method is atomic. A check tests all rules, then records in all of them or in none. Rules with `countRejected`
 * also record a rejected attempt.
 */
export interface Store extends SettlesCosts, KeepsLeases, MayFail, SharesData {
  /** Decides and records. */
  check(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision>;
  /** Like `check`, but records nothing. */
  peek(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision>;
  /** Refunds what the check with this receipt recorded, as far as it still counts. The same as a settled cost of 0. */
  refund(receipt: unknown): Awaitable<void>;
  /** Drops the state of the keys. */
  reset(plan: Plan, keys: Keys): Awaitable<void>;

  /** The clock by which the store decides, if it reads one in this process. */
  readonly clock?: Clock | undefined;
  /** For functions of `@rollgate/core/observe`. */
  readonly inspection?: StoreInspection | undefined;
  /** Closes the store's resources. */
  close?(): Awaitable<void>;
}

/** The capability of a store that records costs which are known after a decision, or without one. Every complete store does. */
export interface SettlesCosts {
  /**
   * Replaces what the check with this receipt recorded. If the settled cost of a rule is lower, it returns the last units
   * of the hit, as far as they still count. If it is higher, it records the difference at the present time. This
   * overdraft may exceed what is free, and the hit may have expired. A receipt has all rules of its plan, also those with
   * cost 0. The limiter settles or refunds a receipt once. A `LeasingStore` settles it again at a lower cost, after the
   * settlement before it has succeeded.
   */
  settle?(receipt: unknown, costs: SettledCosts): Awaitable<void>;
  /**
   * Records without deciding, like an overdraft. Returns the decision of a peek with cost 1 right after. A limit with `givesBack` gives
   * the costs back instead, by its `apply`. With `'used'`, a key without a state gets none.
   */
  charge?(plan: Plan, keys: Keys, costs: Costs): Awaitable<Decision>;
}

/** The capability of a store of slots and reserved units. Every complete store has `release`, and `renew` if other processes use its data. */
export interface KeepsLeases {
  /**
   * Frees the slots that the check with this receipt took, and leaves its other limits alone. The limiter calls it once
   * for a receipt, before or after a settlement.
   */
  release?(receipt: unknown): Awaitable<void>;
  /**
   * Extends the leases of these receipts, in one call. A lease that has expired takes its slots again if they are free. Returns the
   * receipts whose slots are lost. Without this method, slots stay taken until they are released.
   */
  renew?(receipts: readonly unknown[]): Awaitable<readonly unknown[]>;
}

/** The capability of a store that may fail, as a whole or in parts. */
export interface MayFail {
  /**
   * `guardStore` of `@rollgate/core/store`, which applies the limiter's `timeout` and `onStoreError`. The store brings it, so
   * that bundles of apps without such a store do not contain it. On Node, Bun and Deno it is the default. Elsewhere, each
   * store needs it, except a `MemoryStore`.
   */
  readonly guard?: StoreGuard | undefined;
  /**
   * For a store whose parts fail independently, such as the nodes of a Cluster. Returns the name of the part that holds
   * these keys. The limiter then keeps using the other parts while one is down.
   */
  partOf?(plan: Plan, keys: Keys): string;
  /** Like `partOf`, for a receipt. */
  partOfReceipt?(receipt: unknown): string;
  /**
   * For a store on a network, returns the state of the connection to a part, or of all connections if `part` is empty.
   * Error messages contain it.
   */
  connectionTo?(part: string): StoreConnection;
}

/** The capability of a store whose data other stores share, so that callers of `wait` at one are woken by calls of another. */
export interface SharesData {
  /** An object that identifies the data, such as a client. Stores that use the same rows have the same `backend`. */
  readonly backend?: object | undefined;
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
}

/** Wraps a store, so that each of its calls settles within `timeoutMs`. If it fails, `policy` decides. */
export type StoreGuard = (store: Store, timeoutMs: number, policy: OnStoreError) => GuardedStore;

/** A store in its guard. */
export interface GuardedStore extends Store {
  /**
   * Adds the limits that decide during an outage to a plan. Without this method, `fallbackLimits` is an error.
   *
   * @throws TypeError if they do not match `limits`, or if the policy does not use them.
   */
  withFallback?(plan: Plan, limits: ParsedLimits, fallbackLimits: LimitsFrom<ParsedLimits>): Plan;
}
