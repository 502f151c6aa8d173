import type { Decision } from './decision.js';
import { withCode } from './error-codes.js';
import { scheduleAfter } from './scheduler.js';
import { timeoutError } from './timeout-signal.js';
import { unlessAborted } from './unless-aborted.js';

/**
 * Peeks until the action is allowed, then checks. Peeking keeps rejected attempts out of limits that count them. If
 * another caller uses the quota between peek and check, the loop continues.
 */
export async function waitUntilAllowed<Given extends Decision>(
  peek: () => Promise<Given>,
  check: () => Promise<Given>,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<Given> {
  for (;;) {
    signal.throwIfAborted();
    let decision = await unlessAborted(peek(), signal);
    if (decision.allowed) {
      // A caller that has stopped waiting, or whose slot is past its deadline, must not be charged.
      signal.throwIfAborted();
      throwIfPastDeadline(deadlineMs, decision.delayMs);
      decision = await check();
      if (decision.allowed) return decision;
    }
    const { retryAfterMs } = decision;
    if (retryAfterMs === Infinity) {
      const message = 'This call can never succeed: its `cost` exceeds a limit';
      throw withCode('ERR_ROLLGATE_NEVER_ALLOWED', new RangeError(message));
    }
    throwIfPastDeadline(deadlineMs, retryAfterMs);
    await sleep(retryAfterMs, signal);
  }
}

/** Waits until the slot of an allowed action. Calls `refund` if the caller stops waiting before. */
export async function waitForSlot(
  { delayMs }: Decision,
  refund: () => void,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (delayMs === 0) return;
  try {
    throwIfPastDeadline(deadlineMs, delayMs);
    await sleep(delayMs, signal);
  } catch (error) {
    refund();
    throw error;
  }
}

function throwIfPastDeadline(deadlineMs: number, waitMs: number): void {
  if (performance.now() + waitMs <= deadlineMs) return;
  throw timeoutError(`Timed out: the earliest possible start is in ${Math.ceil(waitMs)} ms, after the \`timeout\``);
}

/** Resolves after `ms` milliseconds, but rejects with the signal's reason as soon as the signal aborts. */
async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let wake!: () => void;
  const elapsed = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const cancel = scheduleAfter(ms, wake);
  try {
    await unlessAborted(elapsed, signal);
  } finally {
    cancel();
  }
}
