import type { Decision, LimitDecision } from '../decision/decision.js';
import type { Limit } from '../limits/limit.js';
import type { CounterAlgorithm } from '../limits/rolling-counter-algorithm.js';
import type { LimitsFrom, ParsedLimits } from '../plan/keys-and-limits.js';
import type { Costs, Keys, Plan, SettledCosts } from '../plan/plan.js';
import type { Cancellation } from '../time/cancellation.js';
import type { Clock } from '../time/clock.js';
import type { Awaitable } from '../util/awaitable.js';

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

// What the members of a `Store` take and return.

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

/** What decides when a store has failed. */
export type OnStoreError = 'fallback' | 'allow' | 'deny' | 'throw';

export const ON_STORE_ERROR: readonly OnStoreError[] = ['fallback', 'allow', 'deny', 'throw'];

/** A call of `RateLimiter.wait` at a store that brings its own queues. */
export interface StoreWait {
  /** The rules that decide together. */
  readonly plan: Plan;
  /** The keys of the rules. */
  readonly keys: Keys;
  /** The costs of the rules. */
  readonly costs: Costs;
  /** Ends the wait: the signal, the timeout, or the end of the limiter. */
  readonly cancellation: Cancellation;
  /** How many callers may wait in one queue, `Infinity` without a bound. */
  readonly maxWaiting: number;
}

/** What a {@link StoreWait} gets when it is its turn. */
export interface StoreGrant {
  /** The decision, which allows the action. */
  readonly decision: Decision;
  /** A time of `cancellation.timers`, not after that of the decision in the store. Leases count from it. */
  readonly madeMs: number;
}

/** Queues that the processes of a store share. Without them, the callers of each process have their own queues. */
export interface StoreWaiting {
  /**
   * Records the action when it is its turn, and resolves when the action may start. The limiter then keeps its slots and publishes
   * the decision. The order of arrival is that of these calls.
   *
   * Resolves to `undefined` if the store has failed. The caller then waits in this process, and `onStoreError` decides, until the
   * store rejects a check. Then the limiter passes the same object again, and the caller gets its old place.
   *
   * After the cancellation, frees the place and takes back what is recorded. Use the methods of `cancellation`, which reject with
   * its reason.
   *
   * @throws The reason of the cancellation, or the errors of `neverAllowed` and `tooManyWaiting`. The promise rejects with them.
   */
  wait(call: StoreWait): Promise<StoreGrant | undefined>;
}

/** A key with a state in one limit. */
export interface StoredKey {
  /** The name of the limit. */
  readonly limit: string;
  /** The key; if {@link isHashed}, `%#` and the hash of its text. */
  readonly key: string;
  /** Whether the key has more than 200 UTF-16 code units, so that the store has only its hash. */
  readonly isHashed: boolean;
  /** What a peek with cost 1 returned for this key and limit. */
  readonly result: LimitDecision;
}

/** What one step of a listing has found. */
export interface KeyPage {
  /** The keys, which may be none. */
  readonly keys: readonly StoredKey[];
  /** Whether a key may come again in a later page. */
  readonly mayRepeat?: boolean | undefined;
  /** What the next step continues from; `undefined` after the last one. */
  readonly next: unknown;
}

/** What a store reports about the data that it keeps. Its calls change no state and have no deadline of their own. */
export interface StoreInspection {
  /**
   * Returns some of the keys that begin with `start` and have a state in a rule of the plan. A step takes a bounded amount of work.
   * The hash of a key begins with nothing. A key that has a state during all steps comes for each limit, exactly once unless `mayRepeat` says otherwise.
   * The rule of a limit and that of its block have one name, and are one limit.
   *
   * @param next That of the page before; `undefined` for the first one.
   */
  listKeys(plan: Plan, start: string, next: unknown): Awaitable<KeyPage>;
  /** The options that another store needs in order to read the same data, by their names. Those of a connection are not among them. */
  readonly options: Readonly<Record<string, string>>;
  /** Keeps a text under this name for so long, in place of an earlier one. */
  writeNote(name: string, text: string, forMs: number): Awaitable<void>;
  /** Returns the texts of all notes. */
  readNotes(): Awaitable<readonly string[]>;
}

/** A receipt of a store that supports `report`. Its settlement needs limits that know the numbers of the response. */
export interface LimitedReceipt {
  /**
   * Returns a receipt of the same check. Its settlement uses these limits instead of those that have the same names.
   *
   * @param toInner Does it with the receipt of another store, for one that contains such a receipt.
   */
  withLimits(limits: Readonly<Record<string, Limit>>, toInner: (receipt: unknown) => unknown): unknown;
  /**
   * Returns a receipt for what the check recorded in the limits of these names, of which there is at least one. `undefined` if the
   * receipt cannot be divided.
   */
  only(names: readonly string[]): unknown;
}

/**
 * Whether the peek of a key shows a state. Without one, the action is allowed at once and the full quota is free. Used units always
 * take time to become free, and the last action of a queue delays the next one.
 */
export function isUsed({ allowed, resetMs, delayMs }: LimitDecision): boolean {
  return !allowed || resetMs > 0 || delayMs > 0;
}
