import { createDeferred } from '../base/deferred.js';
import { getOrInsert } from '../base/get-or-insert.js';
import type { Decision } from '../decision/decision.js';
import { refundInBackground } from '../store/background-refund.js';
import { namesOf, watchQuota } from '../store/quota-waiters.js';
import { timersOf } from '../time/clock-timers.js';
import { withCode } from '../validation/error-codes.js';
import { LIMITER_CLOSED, NEVER_ALLOWED } from '../validation/error-texts.js';
import { Cancellation } from './cancellation.js';
import { attempt } from './wait-attempt.js';
import type { WaitCall } from './wait-call.js';
import { type Reply, WaitQueue } from './wait-queue.js';

/** How often a call attempts again that only `fallbackLimits` can never allow. */
const FALLBACK_RETRY_MS = 1000;

/** The callers that wait at one limiter. */
export class WaitingCallers {
  /** By the keys for which their callers wait. */
  readonly #queues = new Map<string, WaitQueue>();
  #isClosed = false;

  /** Repeats the check until it is allowed, after all earlier callers in the queue. Resolves when the action starts. */
  async wait(call: WaitCall): Promise<Decision> {
    if (this.#isClosed) throw limiterClosed();
    const cancellation = new Cancellation(call.signal, call.timeoutMs, timersOf(call.store.clock));
    const name = JSON.stringify([call.plan.prefix, call.keys]);
    const queue = getOrInsert(this.#queues, name, () => new WaitQueue());
    queue.open.add(cancellation);
    try {
      const reply = await queue.takeTurn(cancellation, () => waitUntilAllowed(call, queue, cancellation));
      // The next callers can take their starts during the delay of this one.
      await queue.waitForStart(call, reply, cancellation).catch((error: unknown) => {
        refundInBackground(call.limiter, reply.decision);
        throw error;
      });
      return reply.decision;
    } finally {
      cancellation.dispose();
      queue.open.delete(cancellation);
      if (queue.open.size === 0) this.#queues.delete(name);
    }
  }

  /** Rejects these callers, and all later ones. */
  close(): void {
    this.#isClosed = true;
    for (const { open } of this.#queues.values()) {
      for (const cancellation of open) cancellation.cancel(limiterClosed());
    }
  }
}

/** Attempts to check until a check is allowed. */
async function waitUntilAllowed(call: WaitCall, queue: WaitQueue, cancellation: Cancellation): Promise<Reply> {
  const { timers } = cancellation;
  const names = namesOf(call.store, call.plan, call.keys);
  for (;;) {
    cancellation.throwIfCanceled();
    // From before the attempt, so that no release is missed.
    const woken = createDeferred();
    const stopWatching = watchQuota(call.store, names, woken.resolve);
    try {
      const sentMs = timers.clock.now();
      const decision = await attempt(call, queue, cancellation, sentMs);
      if (decision === undefined) continue;
      const repliedMs = timers.replyMs(sentMs);
      if (decision.allowed) return { decision, sentMs, repliedMs };
      const { retryAfterMs, violated, limits, degraded } = decision;
      if (retryAfterMs === Infinity && degraded === 'fallback' && call.plan.fallback !== undefined) {
        // The limits of one process may be smaller than the cost. The store decides again after the outage.
        await cancellation.sleep(FALLBACK_RETRY_MS, repliedMs, woken);
        continue;
      }
      if (retryAfterMs === Infinity) {
        throw withCode('ERR_ROLLGATE_NEVER_ALLOWED', new RangeError(NEVER_ALLOWED));
      }
      // A slot may be released at any time, so the wait may be shorter.
      const isEstimate = violated.some((limit) => limits[limit]?.retryIsEstimate);
      if (!isEstimate) cancellation.throwIfTooLong(retryAfterMs, repliedMs);
      await cancellation.sleep(retryAfterMs, repliedMs, woken);
    } finally {
      stopWatching();
    }
  }
}

/** Creates the error of a `wait` whose limiter is closed. */
function limiterClosed(): Error {
  return withCode('ERR_ROLLGATE_LIMITER_CLOSED', new Error(LIMITER_CLOSED));
}
