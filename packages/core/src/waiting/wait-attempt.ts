import { type Awaitable, isThenable, mapAwaitable } from '../base/awaitable.js';
import type { Decision } from '../decision/decision.js';
import { hasSubscribers, publishDecision } from '../events/publish-decision.js';
import { refundInBackground } from '../store/background-refund.js';
import type { Cancellation } from './cancellation.js';
import type { WaitCall } from './wait-call.js';
import type { WaitQueue } from './wait-queue.js';

/**
 * Checks once for a waiting caller, whose attempt begins at `sentMs`. A rejected attempt leaves no trace. If the action would
 * start before that of an earlier caller, waits for that one instead, and resolves to `undefined`.
 */
export async function attempt(
  call: WaitCall,
  queue: WaitQueue,
  cancellation: Cancellation,
  sentMs: number,
): Promise<Decision | undefined> {
  const { store, plan, keys, costs } = call;
  const leavesTrace = plan.rules.some(({ limit }) => limit.countRejected || limit.canDelay);
  if (!leavesTrace) {
    const checked = check(call, cancellation, 0, sentMs);
    const decision = await checked;
    // A store on a network that rejects at once remembers an earlier rejection, so only a peek shows the present state.
    if (decision.allowed || isThenable(checked)) return decision;
  }
  const peeked = await cancellation.unlessCanceled(Promise.resolve(store.peek(plan, keys, costs)));
  if (!peeked.allowed) return peeked;
  const repliedMs = cancellation.timers.replyMs(sentMs);
  const overtaken = queue.findOvertaken(call, repliedMs + peeked.delayMs);
  if (overtaken === undefined) return check(call, cancellation, peeked.delayMs, sentMs);
  cancellation.throwIfTooLong(overtaken.startMs - repliedMs, repliedMs);
  await cancellation.unlessCanceled(overtaken.end);
  return undefined;
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
