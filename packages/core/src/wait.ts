import type { Decision } from './decision.js';
import { withCode } from './error-codes.js';
import type { Deadline } from './timeout-signal.js';
import { unlessAborted } from './unless-aborted.js';

/**
 * Peeks until the action is allowed, then checks. Peeking keeps rejected attempts out of limits that count them. If
 * another caller uses the quota between peek and check, the loop continues. Returns the time before the last peek, too.
 */
export async function waitUntilAllowed<Given extends Decision>(
  peek: () => Promise<Given>,
  check: () => Promise<Given>,
  deadline: Deadline,
): Promise<{ decision: Given; sinceMs: number }> {
  const { signal, timers } = deadline;
  for (;;) {
    signal.throwIfAborted();
    const sinceMs = timers.now();
    let decision = await unlessAborted(peek(), signal);
    if (decision.allowed) {
      // A caller that has stopped waiting, or whose slot is past its deadline, must not be charged.
      signal.throwIfAborted();
      deadline.throwIfPast(decision.delayMs, sinceMs);
      decision = await check();
      if (decision.allowed) return { decision, sinceMs };
    }
    const { retryAfterMs } = decision;
    if (retryAfterMs === Infinity) {
      const message = 'This call can never succeed: its `cost` exceeds a limit';
      throw withCode('ERR_ROLLGATE_NEVER_ALLOWED', new RangeError(message));
    }
    deadline.throwIfPast(retryAfterMs, sinceMs);
    await sleep(retryAfterMs, deadline, sinceMs);
  }
}

/** Waits until the slot of an allowed action. Calls `refund` if the caller stops waiting before. */
export async function waitForSlot(
  { delayMs }: Decision,
  refund: () => void,
  deadline: Deadline,
  sinceMs: number,
): Promise<void> {
  if (delayMs === 0) return;
  try {
    deadline.throwIfPast(delayMs, sinceMs);
    await sleep(delayMs, deadline, sinceMs);
  } catch (error) {
    refund();
    throw error;
  }
}

/** Resolves after `ms` milliseconds, but rejects with the signal's reason as soon as the signal aborts. */
async function sleep(ms: number, { signal, timers }: Deadline, sinceMs: number): Promise<void> {
  signal.throwIfAborted();
  let wake!: () => void;
  const elapsed = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const cancel = timers.after(ms, wake, sinceMs);
  try {
    await unlessAborted(elapsed, signal);
  } finally {
    cancel();
  }
}
