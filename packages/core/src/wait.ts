import { setTimeout as sleep } from 'node:timers/promises';
import type { Decision } from './decision.js';
import { type Duration, durationMs } from './duration.js';
import { misuse } from './validate.js';

/** The longest that a Node timer can be set for, about 24.8 days; longer waits are slept in parts. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Peeks until the action is allowed, then checks. Peeking keeps refused attempts out of limits that count them; that
 * somebody else takes the place between the two only means another turn.
 */
export async function waitUntilAllowed<Name extends string>(
  peek: () => Promise<Decision<Name>>,
  check: () => Promise<Decision<Name>>,
  { signal, timeout }: { signal: AbortSignal | undefined; timeout: Duration | undefined },
): Promise<Decision<Name>> {
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw misuse('signal', 'an AbortSignal', signal);
  const startMs = performance.now();
  const timeoutMs = timeout === undefined ? Infinity : durationMs('timeout', timeout);
  for (;;) {
    signal?.throwIfAborted();
    let decision = await peek();
    if (decision.allowed) decision = await check();
    if (decision.allowed) return decision;
    const { retryAfterMs } = decision;
    if (retryAfterMs === Infinity) {
      throw new RangeError('Waited for an action that can never be allowed: its `cost` is above a limit');
    }
    if (performance.now() - startMs + retryAfterMs > timeoutMs) {
      throw new DOMException(
        `The action is allowed in ${Math.ceil(retryAfterMs)} ms at the earliest, after the \`timeout\` of ${timeoutMs} ms`,
        'TimeoutError',
      );
    }
    await pause(Math.min(Math.ceil(retryAfterMs), LONGEST_TIMER_MS), signal);
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    signal?.throwIfAborted(); // The signal's own reason says more than the timer's.
    throw error;
  }
}
