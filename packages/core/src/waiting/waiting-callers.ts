import type { Decision } from '../decision/decision.js';
import { CancelableWait } from '../time/cancellation.js';
import { timersOf } from '../time/clock-timers.js';
import { limiterClosed } from '../validation/wait-errors.js';
import { acceptDecision } from './accept-decision.js';
import type { WaitCall } from './wait-call.js';
import { waitInProcess } from './wait-in-process.js';

/** What all calls of a limiter have in common. */
type Shared = Pick<WaitCall, 'limiter' | 'store' | 'maxWaiting'>;

/** The callers that wait at one limiter. */
export class WaitingCallers {
  /** What cancels their waits, those for the start of an action included. */
  readonly #open = new Set<CancelableWait>();
  readonly #shared: Shared;
  #isClosed = false;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  /** Waits in the queues of the store's processes, or of this process. Resolves when the action starts. */
  async wait(own: Omit<WaitCall, keyof Shared>): Promise<Decision> {
    if (this.#isClosed) throw limiterClosed();
    const call = { ...own, ...this.#shared };
    const cancellation = new CancelableWait(call.signal, call.timeoutMs, timersOf(call.store.clock));
    this.#open.add(cancellation);
    try {
      const { waiting } = call.store;
      const grant = waiting && (await waiting.wait({ ...call, cancellation }));
      if (grant !== undefined) return await acceptDecision(call, grant.decision, grant.madeMs);
      return await waitInProcess(call, cancellation);
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
