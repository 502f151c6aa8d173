import { type Awaitable, mapAwaitable } from './awaitable.js';
import { type Refunder, refundInBackground } from './background-refund.js';
import type { Key } from './create-plan.js';
import type { Decision } from './decision.js';
import type { Keys, Plan } from './plan.js';
import { hasSubscribers, publishDecision } from './publish-decision.js';
import { backendOf, watchNames } from './quota-waiters.js';
import { type Cost, resolveCosts } from './resolve-costs.js';
import type { SlotKeeper } from './slot-limit.js';
import type { Store } from './store.js';

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
    watch(wake) {
      const stopSlots = slots?.watch(plan, keys, wake);
      const stopStates = watchNames(backendOf(store), store.namesOf?.(plan, keys) ?? [], wake);
      return () => {
        stopSlots?.();
        stopStates();
      };
    },
  };
}
