import type { Decision } from '../decision/decision.js';
import { Cancellation } from '../time/cancellation.js';
import { timersOf } from '../time/clock-timers.js';
import { limiterClosed } from '../validation/errors.js';
import type { WaitCall } from './wait-call.js';
import { waitForTurn } from './wait-for-turn.js';

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
