import { type Awaitable, isThenable, mapAwaitable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import { hasSubscribers, publishDecision } from '../events/publish-decision.js';
import type { Key } from '../plan/create-plan.js';
import type { Costs, Keys, Plan } from '../plan/plan.js';
import type { Cost } from '../plan/resolve-costs.js';
import type { SlotKeeper } from '../slots/slot-keeper.js';
import { type Refunder, refundInBackground } from '../store/background-refund.js';
import type { Store } from '../store/store.js';
import type { Cancellation } from './cancellation.js';

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
}

/** Checks once for a waiting caller, whose attempt begins at `sentMs`. A rejected attempt leaves no trace. */
export async function attempt(call: WaitCall, cancellation: Cancellation, sentMs: number): Promise<Decision> {
  const { store, plan, keys, costs } = call;
  const leavesTrace = plan.rules.some(({ limit }) => limit.countRejected || limit.canDelay);
  if (!leavesTrace) {
    const checked = check(call, cancellation, 0, sentMs);
    const decision = await checked;
    // A store on a network that rejects at once remembers an earlier rejection, so only a peek shows the present state.
    if (decision.allowed || isThenable(checked)) return decision;
  }
  const peeked = await cancellation.unlessCanceled(Promise.resolve(store.peek(plan, keys, costs)));
  return peeked.allowed ? check(call, cancellation, peeked.delayMs, sentMs) : peeked;
}

/** Checks, and refunds what the check records if the wait is canceled before the reply. */
function check(call: WaitCall, cancellation: Cancellation, delayMs: number, sentMs: number): Awaitable<Decision> {
  const { limiter, store, slotKeeper, plan, keys, costs, key, cost } = call;
  // A caller that has stopped waiting, or whose action would start after its deadline, must not be charged.
  cancellation.throwIfCanceled();
  cancellation.throwIfTooLong(delayMs, cancellation.timers.replyMs(sentMs));
  const sent = store.check(plan, keys, costs);
  const held = slotKeeper === undefined ? sent : slotKeeper.hold(plan, keys, costs, key, sent);
  // The limiter publishes the decision that ends the wait. A rejected attempt is not the end.
  const checked = mapAwaitable(held, (decision) =>
    decision.allowed && hasSubscribers() ? publishDecision(limiter, key, cost, decision) : decision,
  );
  if (!isThenable(checked)) return checked;
  const replied = Promise.resolve(checked);
  return cancellation.unlessCanceled(replied).catch((error: unknown) => {
    replied.then(
      (late) => {
        if (late.allowed) refundInBackground(limiter, late);
      },
      () => {}, // The caller gets this error, or has stopped waiting.
    );
    throw error;
  });
}
