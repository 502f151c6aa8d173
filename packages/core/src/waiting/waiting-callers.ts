import { createDeferred } from '../base/deferred.js';
import type { Decision } from '../decision/decision.js';
import { refundInBackground } from '../store/background-refund.js';
import { namesOf, watchQuota } from '../store/quota-waiters.js';
import { withCode } from '../validation/error-codes.js';
import { Cancellation, type CancellationOptions } from './cancellation.js';
import { attempt, type Reply, type WaitCall } from './wait-attempt.js';
import { WaitQueue } from './wait-queue.js';

/** The callers that wait at one limiter. */
export class WaitingCallers {
  /** By the keys for which their callers wait. */
  readonly #queues = new Map<string, WaitQueue>();
  #isClosed = false;

  /** Repeats the check until it is allowed, after all earlier callers in the queue. Resolves when the action starts. */
  async wait(call: WaitCall, options: CancellationOptions): Promise<Decision> {
    if (this.#isClosed) throw limiterClosed();
    const cancellation = new Cancellation(options);
    const name = JSON.stringify([call.plan.prefix, call.keys]);
    const queue = this.#queues.get(name) ?? new WaitQueue();
    this.#queues.set(name, queue);
    queue.open.add(cancellation);
    try {
      const reply = await queue.takeTurn(cancellation, () => waitUntilAllowed(call, cancellation));
      // The next callers can take their starts during the delay of this one.
      await queue.waitForStart(reply, cancellation).catch((error: unknown) => {
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
async function waitUntilAllowed(call: WaitCall, cancellation: Cancellation): Promise<Reply> {
  const names = namesOf(call.store, call.plan, call.keys);
  for (;;) {
    cancellation.throwIfCanceled();
    // From before the attempt, so that no release is missed.
    const woken = createDeferred();
    const stopWatching = watchQuota(call.store, names, woken.resolve);
    try {
      const reply = await attempt(call, cancellation);
      const { allowed, retryAfterMs } = reply.decision;
      if (allowed) return reply;
      if (retryAfterMs === Infinity) throw neverAllowed();
      // A slot may be released at any time, so the wait may be shorter.
      if (!isEstimate(reply.decision)) cancellation.throwIfTooLong(retryAfterMs, reply.repliedMs);
      await cancellation.sleep(retryAfterMs, reply.repliedMs, woken);
    } finally {
      stopWatching();
    }
  }
}

/** Whether the wait of a rejection is only advice. */
function isEstimate({ limits, violated }: Decision): boolean {
  return violated.some((name) => limits[name]?.retryIsEstimate === true);
}

/** Creates the error of a `wait` whose cost no limit ever allows. */
function neverAllowed(): RangeError {
  const message = 'This call can never succeed: its `cost` exceeds a limit';
  return withCode('ERR_ROLLGATE_NEVER_ALLOWED', new RangeError(message));
}

/** Creates the error of a `wait` whose limiter is closed. */
function limiterClosed(): Error {
  const message = 'Expected the limiter to stay open until the call is allowed, but `close` was called';
  return withCode('ERR_ROLLGATE_LIMITER_CLOSED', new Error(message));
}
