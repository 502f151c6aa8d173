import type { Decision } from '../decision/decision.js';
import { isConstant } from '../limits/limit.js';
import { refundInBackground } from '../store/background-refund.js';
import { backendOf } from '../store/quota-waiters.js';
import type { StartOrder } from '../time/start-order.js';
import { createDeferred, type Deferred, isThenable } from '../util/awaitable.js';
import { neverAllowed } from '../validation/errors.js';
import { LocalTicket } from './local-ticket.js';
import { acceptDecision, attempt, type WaitCall } from './wait-call.js';

/** After how long a call attempts again at the latest while its store, or the queues of the store, fail. */
const OUTAGE_RETRY_MS = 1000;

/**
 * Waits in the queues of the store, if it has any. Without them, and while they fail, repeats the check whenever it is the caller's
 * turn in this process. Resolves when the action starts.
 */
export async function waitForTurn(call: WaitCall): Promise<Decision> {
  const { store, plan, cancellation } = call;
  const { timers } = cancellation;
  const ticket = new LocalTicket(call);
  const delaying = plan.rules.filter(({ limit }) => limit.orderStarts && !isConstant(limit));
  const starts = delaying.flatMap(({ name }) => ticket.states.get(name) ?? []);
  const order = delaying[0]?.limit.orderStarts?.(backendOf(store), starts) as StartOrder | undefined;
  let queues = store.waiting;
  try {
    for (;;) {
      cancellation.throwIfCanceled();
      if (queues) {
        ticket.leave();
        const grant = await queues.wait(call);
        if (grant) return await acceptDecision(call, grant.decision, grant.madeMs);
      }
      const woken = createDeferred();
      ticket.woken = woken; // From before the attempt, so that no release is missed.
      if (!ticket.takeTurn()) {
        cancellation.throwIfLate();
        await cancellation.unlessCanceled(woken.promise);
        continue;
      }
      const sentMs = timers.clock.now();
      const attempted = attempt(call, order, sentMs);
      // A store in memory decides at once, so a caller that need not wait is never in the way of the next one.
      const decision = isThenable(attempted) ? await attempted : attempted;
      if (!decision) continue;
      const repliedMs = timers.replyMs(sentMs);
      if (!decision.allowed) {
        // If the store responds, its queues may, too.
        queues = queues || decision.degraded ? undefined : store.waiting;
        if (queues) continue;
        ticket.waitAfter(decision);
        await sleepUntilRetry(call, decision, repliedMs, woken);
        continue;
      }
      const started = order?.wait(decision.delayMs, sentMs, repliedMs, cancellation);
      ticket.leave(); // The next callers can take their starts during the delay of this one.
      await started?.catch((error: unknown) => {
        refundInBackground(call.limiter, decision);
        throw error;
      });
      return decision;
    }
  } finally {
    ticket.leave();
  }
}

/** Sleeps until a rejected attempt may be allowed, or until `woken` resolves. The store or its queues may be back earlier. */
function sleepUntilRetry(
  { store, plan, cancellation }: WaitCall,
  { retryAfterMs, violated, limits, degraded }: Decision,
  repliedMs: number,
  woken: Deferred,
): Promise<void> {
  // The limits of one process may be smaller than the cost. The store decides again after the outage.
  const isNever = retryAfterMs === Infinity;
  if (isNever && (degraded !== 'fallback' || !plan.fallback)) {
    throw neverAllowed(violated.find((limit) => limits[limit]?.limit === 0));
  }
  // A slot may be released at any time, so the wait may be shorter.
  const isEstimate = isNever || violated.some((limit) => limits[limit]?.retryIsEstimate);
  if (!isEstimate) cancellation.throwIfTooLong(retryAfterMs, repliedMs);
  return cancellation.sleep(
    degraded || store.waiting ? Math.min(retryAfterMs, OUTAGE_RETRY_MS) : retryAfterMs,
    repliedMs,
    woken,
  );
}
