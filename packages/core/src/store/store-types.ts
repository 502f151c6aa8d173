import type { Decision, LimitDecision } from '../decision/decision.js';
import type { Limit } from '../limits/limit.js';
import type { CounterAlgorithm } from '../limits/rolling-counter-algorithm.js';
import type { Costs, Keys, Plan } from '../plan/plan.js';
import type { Cancellation } from '../time/cancellation.js';
import type { Clock } from '../time/clock.js';
import type { Awaitable } from '../util/awaitable.js';

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
