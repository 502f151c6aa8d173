import type { Decision } from '../decision/decision.js';
import { canDelay } from '../limits/capabilities.js';
import { refundInBackground } from '../store/background-refund.js';
import type { StartOrder } from '../time/start-order.js';
import { type Awaitable, isThenable, mapAwaitable } from '../util/awaitable.js';
import { acceptDecision, type WaitCall } from './wait-call.js';

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
  const leavesTrace = plan.rules.some(({ limit }) => limit.countRejected || canDelay(limit));
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
