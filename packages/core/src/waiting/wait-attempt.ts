import { type Awaitable, mapAwaitable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import { hasSubscribers, publishDecision } from '../events/publish-decision.js';
import type { Key } from '../plan/create-plan.js';
import type { Keys, Plan } from '../plan/plan.js';
import { type Cost, resolveCosts } from '../plan/resolve-costs.js';
import type { SlotKeeper } from '../slots/slot-keeper.js';
import { type Refunder, refundInBackground } from '../store/background-refund.js';
import { namesOf, watchQuota } from '../store/quota-waiters.js';
import type { Store } from '../store/store.js';

/** One attempt of a waiting caller. */
export interface Attempt {
  /** Whether a rejected or a late check leaves a trace, so that the caller must peek before it checks. */
  readonly peeksFirst: boolean;
  readonly peek: () => Promise<Decision>;
  readonly check: () => Awaitable<Decision>;
  /** Refunds a check whose caller has stopped waiting before the store has replied. */
  readonly refund: (decision: Decision) => void;
  /** Calls `wake` when the quota may be free earlier than a rejection says. Returns a function that ends that. */
  readonly watch: (wake: () => void) => () => void;
}

/** Creates the attempt of a caller of `RateLimiter.wait`. It checks in the limiter's store and keeps its slots in `slots`. */
export function createAttempt(
  limiter: Refunder,
  store: Store,
  slots: SlotKeeper | undefined,
  plan: Plan,
  keys: Keys,
  key: Key,
  cost: Cost | undefined,
): Attempt {
  return {
    peeksFirst: plan.rules.some(({ limit }) => limit.countRejected || limit.canDelay),
    peek: async () => store.peek(plan, keys, resolveCosts(plan, cost)),
    check() {
      const costs = resolveCosts(plan, cost);
      const checked = store.check(plan, keys, costs);
      const decision = slots === undefined ? checked : slots.hold(plan, keys, costs, key, checked);
      // The limiter publishes the decision that ends the wait. A rejected attempt is not the end.
      return mapAwaitable(decision, (made) =>
        made.allowed && hasSubscribers() ? publishDecision(limiter, key, cost, made) : made,
      );
    },
    refund: (decision) => refundInBackground(limiter, decision),
    watch: (wake) => watchQuota(store, namesOf(store, plan, keys), wake),
  };
}
