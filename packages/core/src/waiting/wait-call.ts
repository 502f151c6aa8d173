import type { Decision } from '../decision/decision.js';
import { hasSubscribers, publishDecision } from '../events/publish-decision.js';
import type { SlotKeeper } from '../leases/slot-keeper.js';
import type { Key } from '../plan/keys-and-limits.js';
import type { Costs, Keys, Plan } from '../plan/plan.js';
import type { Cost } from '../plan/resolve-costs.js';
import type { Refunder } from '../store/background-refund.js';
import type { Store } from '../store/store.js';
import type { Cancellation } from '../time/cancellation.js';
import { type Awaitable, mapAwaitable } from '../util/awaitable.js';

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

/**
 * Keeps the slots of a decision that a waiting caller gets, and publishes it. A rejected attempt does not end the wait, so it is
 * not published.
 *
 * @param sentMs A time before that of the decision, by default the present. Leases count from it.
 */
export function acceptDecision(call: WaitCall, sent: Awaitable<Decision>, sentMs?: number): Awaitable<Decision> {
  const { limiter, slotKeeper, plan, keys, costs, key, cost } = call;
  const held = slotKeeper === undefined ? sent : slotKeeper.hold(plan, keys, costs, key, sent, sentMs);
  return mapAwaitable(held, (decision) =>
    decision.allowed && hasSubscribers() ? publishDecision(limiter, key, cost, decision) : decision,
  );
}
