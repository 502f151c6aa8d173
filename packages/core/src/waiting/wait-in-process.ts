import { isThenable } from '../base/awaitable.js';
import { createDeferred, type Deferred } from '../base/deferred.js';
import type { Decision } from '../decision/decision.js';
import { refundInBackground } from '../store/background-refund.js';
import { backendOf } from '../store/quota-waiters.js';
import type { Cancellation } from '../time/cancellation.js';
import { neverAllowed } from '../validation/wait-errors.js';
import { Ticket } from './ticket.js';
import { attempt } from './wait-attempt.js';
import type { WaitCall } from './wait-call.js';

/** How often a call attempts again that only `fallbackLimits` can never allow. */
const FALLBACK_RETRY_MS = 1000;

/** Repeats the check until it is allowed, whenever it is the caller's turn. Resolves when the action starts. */
export async function waitInProcess(call: WaitCall, cancellation: Cancellation): Promise<Decision> {
  const { timers } = cancellation;
  const { store, plan } = call;
  const ticket = new Ticket(call);
  const order = plan.rules
    .find(({ limit }) => limit.orderStarts)
    ?.limit.orderStarts?.(backendOf(store), plan.rules, ticket.states);
  try {
    for (;;) {
      cancellation.throwIfCanceled();
      const woken = createDeferred();
      ticket.woken = woken; // From before the attempt, so that no release is missed.
      if (!ticket.takeTurn()) {
        await cancellation.unlessCanceled(woken.promise);
        continue;
      }
      const sentMs = timers.clock.now();
      const attempted = attempt(call, order, cancellation, sentMs);
      // A store in memory decides at once, so a caller that need not wait is never in the way of the next one.
      const decision = isThenable(attempted) ? await attempted : attempted;
      if (decision === undefined) continue;
      const repliedMs = timers.replyMs(sentMs);
      if (!decision.allowed) {
        ticket.waitAfter(decision);
        await sleepUntilRetry(call, decision, repliedMs, cancellation, woken);
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

/** Sleeps until a rejected attempt may be allowed, or until `woken` resolves. */
function sleepUntilRetry(
  { plan }: WaitCall,
  { retryAfterMs, violated, limits, degraded }: Decision,
  repliedMs: number,
  cancellation: Cancellation,
  woken: Deferred,
): Promise<void> {
  if (retryAfterMs === Infinity) {
    if (degraded !== 'fallback' || plan.fallback === undefined) throw neverAllowed();
    // The limits of one process may be smaller than the cost. The store decides again after the outage.
    return cancellation.sleep(FALLBACK_RETRY_MS, repliedMs, woken);
  }
  // A slot may be released at any time, so the wait may be shorter.
  const isEstimate = violated.some((limit) => limits[limit]?.retryIsEstimate);
  if (!isEstimate) cancellation.throwIfTooLong(retryAfterMs, repliedMs);
  return cancellation.sleep(retryAfterMs, repliedMs, woken);
}
