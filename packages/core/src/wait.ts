import { setTimeout as sleep } from 'node:timers/promises';
import type { Decision } from './decision.js';

/** The longest that a Node timer can be set for, about 24.8 days; longer waits are slept in parts. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Those who wait for the same thing, in the order of their coming: each asks only when all before them have been let
 * through or have given up. So nobody is overtaken, and a place that comes free wakes one of them, not all.
 */
export class WaitingLines {
  readonly #lastOf = new Map<string, Promise<void>>();

  /** Runs `work` when its turn in the line `name` comes. Rejects with the signal's reason when it aborts before. */
  async takeTurn<Result>(name: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const before = this.#lastOf.get(name);
    let leave!: () => void;
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const turn = before === undefined ? left : before.then(() => left);
    this.#lastOf.set(name, turn);
    try {
      if (before !== undefined) await unlessAborted(before, signal);
      return await work();
    } finally {
      leave();
      turn.then(() => {
        if (this.#lastOf.get(name) === turn) this.#lastOf.delete(name);
      });
    }
  }
}

/**
 * Peeks until the action is allowed, then checks. Peeking keeps refused attempts out of limits that count them; that
 * somebody else takes the place between the two only means another turn.
 */
export async function waitUntilAllowed<Answer extends Decision>(
  peek: () => Promise<Answer>,
  check: () => Promise<Answer>,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<Answer> {
  for (;;) {
    signal.throwIfAborted();
    let decision = await unlessAborted(peek(), signal);
    if (decision.allowed) {
      signal.throwIfAborted(); // Who has given up meanwhile must not be charged.
      decision = await check();
      if (decision.allowed) return decision;
    }
    const { retryAfterMs } = decision;
    if (retryAfterMs === Infinity) {
      throw new RangeError('Waited for an action that can never be allowed: its `cost` is above a limit');
    }
    if (performance.now() + retryAfterMs > deadlineMs) {
      const inMs = Math.ceil(retryAfterMs);
      throw new DOMException(
        `The action is allowed in ${inMs} ms at the earliest, after the \`timeout\``,
        'TimeoutError',
      );
    }
    await pause(Math.min(Math.ceil(retryAfterMs), LONGEST_TIMER_MS), signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch (error) {
    signal.throwIfAborted(); // The signal's own reason says more than the timer's.
    throw error;
  }
}

/** As `promise`, but rejects with the signal's reason as soon as it aborts. */
async function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted();
  let onAbort!: () => void;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
