import type { Decision } from './decision.js';
import { withCode } from './error-codes.js';
import { scheduleAfter } from './scheduler.js';
import { timeoutError } from './wait-deadline.js';

/**
 * Those who wait for the same thing, in the order of their coming: each asks only when all before them have been let
 * through or have given up. So nobody is overtaken, and a place that comes free wakes one of them, not all.
 */
export class WaitQueues {
  readonly #lastOf = new Map<string, Promise<void>>();

  /** Runs `work` when its turn in the line `name` comes. Rejects with the signal's reason when it aborts before. */
  async enqueue<Result>(name: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
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
      signal.throwIfAborted(); // Who has given up meanwhile must not be charged,
      throwIfPastDeadline(deadlineMs, decision.delayMs); // nor who cannot stay until its turn.
      decision = await check();
      if (decision.allowed) return decision;
    }
    const { retryAfterMs } = decision;
    if (retryAfterMs === Infinity) {
      const message = 'Waited for an action that can never be allowed: its `cost` is above a limit';
      throw withCode('ERR_ROLLGATE_NEVER_ALLOWED', new RangeError(message));
    }
    throwIfPastDeadline(deadlineMs, retryAfterMs);
    await pause(retryAfterMs, signal);
  }
}

/** Holds an action that was allowed until its turn. Who gives up before, gives its place back. */
export async function waitForSlot(
  { delayMs }: Decision,
  refund: () => void,
  deadlineMs: number,
  signal: AbortSignal,
): Promise<void> {
  if (delayMs === 0) return;
  try {
    throwIfPastDeadline(deadlineMs, delayMs);
    await pause(delayMs, signal);
  } catch (error) {
    refund();
    throw error;
  }
}

function throwIfPastDeadline(deadlineMs: number, waitMs: number): void {
  if (performance.now() + waitMs <= deadlineMs) return;
  const inMs = Math.ceil(waitMs);
  throw timeoutError(`The action is allowed in ${inMs} ms at the earliest, after the \`timeout\``);
}

/** Rejects with the signal's reason as soon as it aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let leave!: () => void;
  const over = new Promise<void>((resolve) => {
    leave = resolve;
  });
  const cancel = scheduleAfter(ms, leave);
  try {
    await unlessAborted(over, signal);
  } finally {
    cancel();
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
