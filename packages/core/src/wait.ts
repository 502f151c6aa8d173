import { type Awaitable, isThenable } from './awaitable.js';
import type { Decision } from './decision.js';
import { withCode } from './error-codes.js';
import type { Plan } from './plan.js';
import type { Deadline } from './timeout-signal.js';
import { unlessAborted } from './unless-aborted.js';

/** One attempt of a waiting caller. */
export interface Attempt<Given extends Decision> {
  /** The result of {@link peeksFirst}. */
  readonly peeksFirst: boolean;
  readonly peek: () => Promise<Given>;
  readonly check: () => Awaitable<Given>;
  /** Refunds a check whose caller has stopped waiting before the store has replied. */
  readonly refund: (decision: Given) => void;
  /** Calls `wake` when the quota may be free earlier than a rejection says. Returns a function that ends that. */
  readonly watch: (wake: () => void) => (() => void) | undefined;
}

/** Whether a rejected or a late check of these limits leaves a trace, so that a waiting caller must peek before it checks. */
export function peeksFirst({ rules }: Plan): boolean {
  return rules.some(({ limit }) => limit.countRejected || limit.canDelay);
}

/** Repeats the attempt until it is allowed. Returns the time before the last one, too. */
export async function waitUntilAllowed<Given extends Decision>(
  attempt: Attempt<Given>,
  deadline: Deadline,
): Promise<{ decision: Given; sinceMs: number }> {
  const { signal, timers } = deadline;
  for (;;) {
    signal.throwIfAborted();
    const sinceMs = timers.now();
    // From before the attempt, so that no release is missed.
    const freed = createSignal();
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
      stopWatching?.();
    }
  }
}

/** Checks, and peeks before if the attempt has to. */
async function run<Given extends Decision>(
  attempt: Attempt<Given>,
  deadline: Deadline,
  sinceMs: number,
): Promise<Given> {
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
function check<Given extends Decision>(
  attempt: Attempt<Given>,
  { signal, throwIfPast }: Deadline,
  delayMs: number,
  sinceMs: number,
): Awaitable<Given> {
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

function createSignal(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
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
  const elapsed = createSignal();
  const cancel = timers.after(ms, elapsed.resolve, startMs);
  try {
    await unlessAborted(early === undefined ? elapsed.promise : Promise.race([elapsed.promise, early]), signal);
  } finally {
    cancel();
  }
}
