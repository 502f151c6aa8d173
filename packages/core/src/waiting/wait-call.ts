import type { Decision } from '../decision/decision.js';
import { hasSubscribers, publishDecision } from '../events/publish-decision.js';
import type { LeaseKeeper } from '../leases/lease-keeper.js';
import type { Key } from '../plan/keys-and-limits.js';
import type { Cost } from '../plan/resolve-costs.js';
import { type Refunder, refundInBackground } from '../store/background-refund.js';
import type { Store } from '../store/store.js';
import type { StoreWait } from '../store/store-types.js';
import type { StartOrder } from '../time/start-order.js';
import { type Awaitable, isThenable, mapAwaitable } from '../util/awaitable.js';

/** A call of `RateLimiter.wait`. */
export interface WaitCall extends StoreWait {
  readonly limiter: Refunder;
  readonly store: Store;
  /** Keeps the slots that the call takes, if its plan has any. */
  readonly leaseKeeper: LeaseKeeper | undefined;
  /** The key and the cost as the caller passed them. */
  readonly key: Key;
  readonly cost: Cost | undefined;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/**
 * Keeps the slots of a decision that a waiting caller gets, and publishes it. A rejected attempt does not end the wait, so it is
 * not published.
 *
 * @param sentMs A time before that of the decision, by default the present. Leases count from it.
 */
export function acceptDecision(call: WaitCall, sent: Awaitable<Decision>, sentMs?: number): Awaitable<Decision> {
  const { limiter, leaseKeeper, plan, keys, costs, key, cost } = call;
  const held = leaseKeeper === undefined ? sent : leaseKeeper.hold(plan, keys, costs, key, sent, sentMs);
  return mapAwaitable(held, (decision) =>
    decision.allowed && hasSubscribers() ? publishDecision(limiter, key, cost, decision) : decision,
  );
}

/**
 * Checks once for a waiting caller, whose attempt begins at `sentMs`. A rejected attempt leaves no trace. If the action would
 * start before that of an earlier caller, waits for that one instead, and resolves to `undefined`.
 */
export function attempt(
  call: WaitCall,
  order: StartOrder | undefined,
  sentMs: number,
): Awaitable<Decision | undefined> {
  const { store, plan, keys, costs, cancellation } = call;
  const leavesTrace = plan.rules.some(({ limit }) => limit.countRejected || limit.blockFor || limit.orderStarts);
  if (!leavesTrace) {
    const checked = check(call, 0, sentMs);
    // A store on a network that rejects at once remembers an earlier rejection, so only a peek shows the present state.
    if (isThenable(checked) || checked.allowed) return checked;
  }
  const sent = store.peek(plan, keys, costs);
  const replied = isThenable(sent) ? cancellation.unlessCanceled(Promise.resolve(sent)) : sent;
  return mapAwaitable(replied, (peeked): Awaitable<Decision | undefined> => {
    if (!peeked.allowed) return peeked;
    const passed = order?.passOvertaken(peeked.delayMs, sentMs, cancellation) as Promise<undefined> | undefined;
    return passed ?? check(call, peeked.delayMs, sentMs);
  });
}

/** Checks, and refunds what the check records if the wait is canceled before the reply. */
function check(call: WaitCall, delayMs: number, sentMs: number): Awaitable<Decision> {
  const { limiter, store, plan, keys, costs, cancellation } = call;
  // A caller that has stopped waiting, or whose action would start after its deadline, must not be charged.
  cancellation.throwIfCanceled();
  cancellation.throwIfTooLong(delayMs, cancellation.timers.replyMs(sentMs));
  const checked = acceptDecision(call, store.check(plan, keys, costs));
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
