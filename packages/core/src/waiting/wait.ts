import { type Awaitable, isThenable } from '../base/awaitable.js';
import { createDeferred } from '../base/deferred.js';
import { unlessAborted } from '../base/unless-aborted.js';
import type { Decision } from '../decision/decision.js';
import type { Deadline } from '../time/timeout-signal.js';
import { withCode } from '../validation/error-codes.js';
import type { Attempt } from './wait-attempt.js';

/** Repeats the attempt until it is allowed. Returns the time before the last one, too. */
export async function waitUntilAllowed(
  attempt: Attempt,
  deadline: Deadline,
): Promise<{ decision: Decision; sinceMs: number }> {
  const { signal, timers } = deadline;
  for (;;) {
    signal.throwIfAborted();
    const sinceMs = timers.now();
    // From before the attempt, so that no release is missed.
    const freed = createDeferred();
    const stopWatching = attempt.watch(freed.resolve);
    try {
      const decision = await run(attempt, deadline, sinceMs);
      if (decision.allowed) return { decision, sinceMs };
      const { retryAfterMs } = decision;
      if (retryAfterMs === Infinity) {
        const message = 'This call can never succeed: its `cost` exceeds a limit';
        throw withCode('ERR_ROLLGATE_NEVER_ALLOWED', new RangeError(message));
      }
      // A slot may be released at any time, so the wait may be shorter.
      if (!isEstimate(decision)) deadline.throwIfPast(retryAfterMs, sinceMs);
      await sleep(retryAfterMs, deadline, timers.startOfDelays(sinceMs), freed.promise);
    } finally {
      stopWatching();
    }
  }
}

/** Checks, and peeks before if the attempt has to. */
async function run(attempt: Attempt, deadline: Deadline, sinceMs: number): Promise<Decision> {
  if (!attempt.peeksFirst) {
    const checked = check(attempt, deadline, 0, sinceMs);
    const decision = await checked;
    // A store on a network that rejects at once remembers an earlier rejection, so only a peek shows the present state.
    if (decision.allowed || isThenable(checked)) return decision;
  }
  const peeked = await unlessAborted(attempt.peek(), deadline.signal);
  return peeked.allowed ? check(attempt, deadline, peeked.delayMs, sinceMs) : peeked;
}

/** Checks, and refunds what the check records if the caller stops waiting before the reply. */
function check(
  attempt: Attempt,
  { signal, throwIfPast }: Deadline,
  delayMs: number,
  sinceMs: number,
): Awaitable<Decision> {
  // A caller that has stopped waiting, or whose slot is past its deadline, must not be charged.
  signal.throwIfAborted();
  throwIfPast(delayMs, sinceMs);
  const checked = attempt.check();
  if (!isThenable(checked)) return checked;
  const replied = Promise.resolve(checked);
  return unlessAborted(replied, signal).catch((error: unknown) => {
    replied.then(
      (late) => late.allowed && attempt.refund(late),
      () => {}, // The caller gets this error, or has stopped waiting.
    );
    throw error;
  });
}

/** Whether the wait of a rejection is only advice. */
function isEstimate({ limits, violated }: Decision): boolean {
  return violated.some((name) => limits[name]?.retryIsEstimate === true);
}

/**
 * Resolves `ms` milliseconds after `startMs` or when `early` does, but rejects with the signal's reason as soon as the
 * signal aborts.
 */
export async function sleep(
  ms: number,
  { signal, timers }: Deadline,
  startMs: number,
  early?: Promise<void>,
): Promise<void> {
  signal.throwIfAborted();
  const elapsed = createDeferred();
  const cancel = timers.after(ms, elapsed.resolve, startMs);
  try {
    await unlessAborted(early === undefined ? elapsed.promise : Promise.race([elapsed.promise, early]), signal);
  } finally {
    cancel();
  }
}
