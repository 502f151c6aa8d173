import type { Awaitable } from './awaitable.js';
import type { CounterAlgorithm } from './counter-algorithm.js';
import type { Decision } from './decision.js';
import type { Keys, Plan } from './plan.js';

/**
 * Where the state of keys is kept. A store holds no configuration (the limits come with every call) and owns the
 * time. It may answer at once or with a promise; the limiter passes on whichever it gets.
 *
 * What it throws at once is invalidOption, and goes to the caller; what it rejects with is a failure, which the limiter's policy
 * answers.
 *
 * Rules that every store has to follow, in addition to the comments of `Limit`:
 *
 * - **Implausible states are deleted.** Before each check and each peek, ask the limit of the current call
 *   `isPlausible(state, now)`, not the limit that recorded. If it returns `false`, delete the state, even in a peek: the state
 *   comes from a clock that was far ahead, and must not count again when time gets there. A deleted state is as new.
 * - **The limit that recorded last decides when a state expires.** Keep that limit with the state. When its
 *   `expiresMicros(state)` is not after `now`, the key is as new. The next record starts a new state, and receipts of the old
 *   one refund nothing. Keep an expired state for up to a minute, because a clock may step back.
 * - **Waits end when the state expires.** When another limit than the recorder asks, cap its `waitMicros` and `resetMicros`
 *   by the recorder's `expiresMicros(state) - now`: after that time nothing is left to reject. A cost above the asking limit's
 *   quota waits for `Infinity` all the same.
 * - **A decision shows the state after it.** For a limit that recorded, take the verdict that `record` returns; its wait is 0
 *   when the check was allowed. `delayMs` is 0 in every limit when one rejected. A limit that
 *   rejected has the `reason` of the same verdict as its wait; a limit that allowed has none.
 *
 * Every method is atomic: a check tests all rules, then records in all of them or in none, but for rules with
 * `countRejected`, which record a refused attempt for themselves.
 */
export interface Store {
  /** Decides and records. */
  check(plan: Plan, keys: Keys, cost: number): Awaitable<Decision>;
  /** As `check`, recording nothing. */
  peek(plan: Plan, keys: Keys, cost: number): Awaitable<Decision>;
  /** Takes back what the check recorded whose decision was built with this receipt, as far as it is still there. */
  refund(receipt: unknown): Awaitable<void>;
  /** Forgets the keys. */
  reset(plan: Plan, keys: Keys): Awaitable<void>;
  /** What it keeps the keys in, if other stores may too, such as a client's connection: those share their keys. */
  readonly backend?: object;
  /**
   * For a store whose parts fail apart, such as the nodes of a Cluster: the part that answers for these keys, as the
   * operator knows it. One part that is down is then no reason to do without the others.
   */
  partOf?(plan: Plan, keys: Keys): string;
  /** As `partOf`, for what a receipt recorded. */
  partOfReceipt?(receipt: unknown): string;
  /**
   * For a store on a network, what its client knows of the connection to a part, or of all when `part` is empty. It goes into
   * the messages of errors.
   */
  connectionTo?(part: string): StoreConnection;
  /** Releases what the store holds open. */
  close?(): Awaitable<void>;
}

/** What a client knows of its connection. */
export interface StoreConnection {
  /** In the client's words, such as `reconnecting`. */
  readonly state: string;
  /** The last error of the connection since it last worked. */
  readonly lastError?: Error | undefined;
}

/** A store that can also count without judging, for a `RollingCounter`. */
export interface CountingStore {
  /**
   * Adds `units` to the subject, which may be 0, and answers how many there are in the last `intervalMicros`, in one atomic
   * step.
   */
  addCount(counter: CounterAlgorithm, subject: string, units: number, intervalMicros: number): Awaitable<number>;
  /** As `partOf` of a {@link Store}, for a subject. */
  partOfSubject?(counter: CounterAlgorithm, subject: string): string;
  /** As `connectionTo` of a {@link Store}. */
  connectionTo?(part: string): StoreConnection;
}
