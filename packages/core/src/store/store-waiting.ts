import type { Decision } from '../decision/decision.js';
import type { Costs, Keys, Plan } from '../plan/plan.js';
import type { Cancellation } from '../time/cancellation.js';

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
