import type { Key } from '../plan/create-plan.js';
import type { Costs, Keys, Plan } from '../plan/plan.js';
import type { Cost } from '../plan/resolve-costs.js';
import type { SlotKeeper } from '../slots/slot-keeper.js';
import type { Refunder } from '../store/background-refund.js';
import type { Store } from '../store/store.js';
import type { Cancellation } from '../time/cancellation.js';

/** A call of `RateLimiter.wait`. */
export interface WaitCall {
  readonly limiter: Refunder;
  readonly store: Store;
  /** Keeps the slots that the call takes, if its plan has any. */
  readonly slotKeeper: SlotKeeper | undefined;
  readonly plan: Plan;
  readonly keys: Keys;
  readonly costs: Costs;
  /** The key and the cost as the caller passed them. */
  readonly key: Key;
  readonly cost: Cost | undefined;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** Ends the wait. */
  readonly cancellation: Cancellation;
  /** How many callers may wait in one queue. */
  readonly maxWaiting: number;
}
