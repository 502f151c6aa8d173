import type { Decision } from '../decision/decision.js';
import { hasSubscribers, publishDecision } from '../events/events.js';
import type { LeaseKeeper } from '../leases/lease-keeper.js';
import { isConstant } from '../limits/limit.js';
import type { Key } from '../plan/keys-and-limits.js';
import type { Cost } from '../plan/plan.js';
import { type Refunder, refundInBackground } from '../store/background-refund.js';
import { backendOf } from '../store/quota-waiters.js';
import type { Store, StoreWait } from '../store/store.js';
import { Cancellation } from '../time/cancellation.js';
import { timersOf } from '../time/clock.js';
import type { StartOrder } from '../time/start-order.js';
import { type Awaitable, createDeferred, type Deferred, isThenable, mapAwaitable } from '../util/awaitable.js';
import { limiterClosed, neverAllowed } from '../validation/errors.js';
import { LocalTicket } from './local-ticket.js';

/** What all calls of a limiter have in common. */
type Shared = Pick<WaitCall, 'limiter' | 'maxWaiting'>;

/** The callers that wait at one limiter. */
export class WaitingCallers {
  /** What cancels their waits, those for the start of an action included. */
  readonly #open = new Set<Cancellation>();
  #isClosed = false;

  constructor(private readonly shared: Shared) {}

  /** Waits in the queues of the store's processes, or of this process. Resolves when the action starts. */
  async wait(own: Omit<WaitCall, keyof Shared | 'cancellation'>): Promise<Decision> {
    if (this.#isClosed) throw limiterClosed();
    const { store, signal, timeoutMs } = own;
    const cancellation = new Cancellation(signal, timeoutMs, timersOf(store.clock));
    this.#open.add(cancellation);
    try {
      return await waitForTurn({ ...own, ...this.shared, cancellation });
    } finally {
      cancellation.dispose();
      this.#open.delete(cancellation);
    }
  }

  /** Rejects these callers, and all later ones. */
  close(): void {
    this.#isClosed = true;
    for (const cancellation of this.#open) cancellation.cancel(limiterClosed());
  }
}

/** After how long a call attempts again at the latest while its store, or the queues of the store, fail. */
const OUTAGE_RETRY_MS = 1000;

/**
 * Waits in the queues of the store, if it has any. Without them, and while they fail, repeats the check whenever it is the caller's
 * turn in this process. Resolves when the action starts.
 */
async function waitForTurn(call: WaitCall): Promise<Decision> {
  const { store, plan, cancellation } = call;
  const { timers } = cancellation;
  const ticket = new LocalTicket(call);
  const delaying = plan.rules.filter(({ limit }) => limit.orderStarts && !isConstant(limit));
  const starts = delaying.flatMap(({ name }) => ticket.states.get(name) ?? []);
  const order = delaying[0]?.limit.orderStarts?.(backendOf(store), starts) as StartOrder | undefined;
  let queues = store.waiting;
  try {
    for (;;) {
      cancellation.throwIfCanceled();
      if (queues) {
        ticket.leave();
        const grant = await queues.wait(call);
        if (grant) return await acceptDecision(call, grant.decision, grant.madeMs);
      }
      const woken = createDeferred();
      ticket.woken = woken; // From before the attempt, so that no release is missed.
      if (!ticket.takeTurn()) {
        cancellation.throwIfLate();
        await cancellation.unlessCanceled(woken.promise);
        continue;
      }
      const sentMs = timers.clock.now();
      const attempted = attempt(call, order, sentMs);
      // A store in memory decides at once, so a caller that need not wait is never in the way of the next one.
      const decision = isThenable(attempted) ? await attempted : attempted;
      if (!decision) continue;
      const repliedMs = timers.replyMs(sentMs);
      if (!decision.allowed) {
        // If the store responds, its queues may, too.
        queues = queues || decision.degraded ? undefined : store.waiting;
        if (queues) continue;
        ticket.waitAfter(decision);
        await sleepUntilRetry(call, decision, repliedMs, woken);
        continue;
      }
      const started = order?.wait(decision.delayMs, sentMs, repliedMs, cancellation);
      ticket.leave(); // The next callers can take their starts during the delay of this one.
      await started?.catch((error: unknown) => {
        refundInBackground(call.limiter, decision);
        throw error;
      });
      return decision;
    }
  } finally {
    ticket.leave();
  }
}

/** Sleeps until a rejected attempt may be allowed, or until `woken` resolves. The store or its queues may be back earlier. */
function sleepUntilRetry(
  { store, plan, cancellation }: WaitCall,
  { retryAfterMs, violated, limits, degraded }: Decision,
  repliedMs: number,
  woken: Deferred,
): Promise<void> {
  // The limits of one process may be smaller than the cost. The store decides again after the outage.
  const isNever = retryAfterMs === Infinity;
  if (isNever && (degraded !== 'fallback' || !plan.fallback)) {
    throw neverAllowed(violated.find((limit) => limits[limit]?.limit === 0));
  }
  // A slot may be released at any time, so the wait may be shorter.
  const isEstimate = isNever || violated.some((limit) => limits[limit]?.retryIsEstimate);
  if (!isEstimate) cancellation.throwIfTooLong(retryAfterMs, repliedMs);
  return cancellation.sleep(
    degraded || store.waiting ? Math.min(retryAfterMs, OUTAGE_RETRY_MS) : retryAfterMs,
    repliedMs,
    woken,
  );
}

/** A call of `RateLimiter.wait`. */
interface WaitCall extends StoreWait {
  readonly limiter: Refunder;
  readonly store: Store;
  /** Keeps the slots that the call takes, if its plan has any. */
  readonly leaseKeeper: LeaseKeeper | undefined;
  /** The key and the cost as the caller passed them. */
  readonly key: Key;
  readonly cost: Cost | undefined;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

/**
 * Keeps the slots of a decision that a waiting caller gets, and publishes it. A rejected attempt does not end the wait, so it is
 * not published.
 *
 * @param sentMs A time before that of the decision, by default the present. Leases count from it.
 */
function acceptDecision(call: WaitCall, sent: Awaitable<Decision>, sentMs?: number): Awaitable<Decision> {
  const { limiter, leaseKeeper, plan, keys, costs, key, cost } = call;
  const held = leaseKeeper === undefined ? sent : leaseKeeper.hold(plan, keys, costs, key, sent, sentMs);
  return mapAwaitable(held, (decision) =>
    decision.allowed && hasSubscribers() ? publishDecision(limiter, key, cost, decision) : decision,
  );
}

/**
 * Checks once for a waiting caller, whose attempt begins at `sentMs`. A rejected attempt leaves no trace. If the action would
 * start before that of an earlier caller, waits for that one instead, and resolves to `undefined`.
 */
function attempt(call: WaitCall, order: StartOrder | undefined, sentMs: number): Awaitable<Decision | undefined> {
  const { store, plan, keys, costs, cancellation } = call;
  const leavesTrace = plan.rules.some(({ limit }) => limit.countRejected || limit.blockFor || limit.orderStarts);
  if (!leavesTrace) {
    const checked = check(call, 0, sentMs);
    // A store on a network that rejects at once remembers an earlier rejection, so only a peek shows the present state.
    if (isThenable(checked) || checked.allowed) return checked;
  }
  const sent = store.peek(plan, keys, costs);
  const replied = isThenable(sent) ? cancellation.unlessCanceled(Promise.resolve(sent)) : sent;
  return mapAwaitable(replied, (peeked): Awaitable<Decision | undefined> => {
    if (!peeked.allowed) return peeked;
    const passed = order?.passOvertaken(peeked.delayMs, sentMs, cancellation) as Promise<undefined> | undefined;
    return passed ?? check(call, peeked.delayMs, sentMs);
  });
}

/** Checks, and refunds what the check records if the wait is canceled before the reply. */
function check(call: WaitCall, delayMs: number, sentMs: number): Awaitable<Decision> {
  const { limiter, store, plan, keys, costs, cancellation } = call;
  // A caller that has stopped waiting, or whose action would start after its deadline, must not be charged.
  cancellation.throwIfCanceled();
  cancellation.throwIfTooLong(delayMs, cancellation.timers.replyMs(sentMs));
  const checked = acceptDecision(call, store.check(plan, keys, costs));
  if (!isThenable(checked)) return checked;
  const replied = Promise.resolve(checked);
  return cancellation.unlessCanceled(replied).catch((error: unknown) => {
    replied.then(
      (late) => {
        if (late.allowed) refundInBackground(limiter, late);
      },
      () => {}, // The caller gets this error, or has stopped waiting.
    );
    throw error;
  });
}
