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
  watchSlots: (wake: () => void) => (() => void) | undefined,
): Promise<{ decision: Given; sinceMs: number }> {
  const { signal, timers } = deadline;
  for (;;) {
    signal.throwIfAborted();
    const sinceMs = timers.now();
    // From before the peek, so that no release is missed.
    const freed = createSignal();
    const stopWatching = watchSlots(freed.resolve);
    try {
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
      // A slot may be released at any time, so the wait may be shorter.
      if (!isEstimate(decision)) deadline.throwIfPast(retryAfterMs, sinceMs);
      await sleep(retryAfterMs, deadline, sinceMs, freed.promise);
    } finally {
      stopWatching?.();
    }
  }
}

/** Waits until the slot of an allowed action. Calls `refund` if the caller stops waiting before. */
export async function waitForSlot(
  { delayMs }: Decision,
  refund: () => void,
  deadline: Deadline,
  sinceMs: number,
): Promise<void> {
  // Otherwise this caller would overtake those ahead of it, whose slots have passed while the process was busy.
  if (delayMs === 0 && !deadline.timers.isLate?.()) return;
  try {
    deadline.throwIfPast(delayMs, sinceMs);
    await sleep(delayMs, deadline, sinceMs);
  } catch (error) {
    refund();
    throw error;
  }
}

/** Whether the wait of a rejection is only advice. */
function isEstimate({ limits, violated }: Decision): boolean {
  return violated.some((name) => limits[name]?.retryIsEstimate === true);
}

function createSignal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** Resolves after `ms` milliseconds or when `early` does, but rejects with the signal's reason as soon as the signal aborts. */
async function sleep(ms: number, { signal, timers }: Deadline, sinceMs: number, early?: Promise<void>): Promise<void> {
  signal.throwIfAborted();
  const elapsed = createSignal();
  const cancel = timers.after(ms, elapsed.resolve, sinceMs);
  try {
    await unlessAborted(early === undefined ? elapsed.promise : Promise.race([elapsed.promise, early]), signal);
  } finally {
    cancel();
  }
}
