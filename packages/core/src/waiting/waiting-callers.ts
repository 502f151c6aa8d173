import type { Decision } from '../decision/decision.js';
import type { Timers } from '../time/clock-timers.js';
import { createDeadline, type Deadline, limiterClosed } from '../time/timeout-signal.js';
import { waitUntilAllowed } from './wait.js';
import type { Attempt } from './wait-attempt.js';
import { WaitQueues } from './wait-queues.js';
import { WaitSlots } from './wait-slots.js';

/** The callers that wait at one limiter. */
export class WaitingCallers {
  readonly #queues = new WaitQueues();
  readonly #slots = new WaitSlots();
  readonly #deadlines = new Set<Deadline>();
  #isClosed = false;

  /** Repeats the attempt until it is allowed, after all earlier callers in the queue. Resolves at the action's slot. */
  async add(queue: string, attempt: Attempt, { signal, timeoutMs, timers }: WaitLimits): Promise<Decision> {
    if (this.#isClosed) throw limiterClosed();
    const deadline = createDeadline(signal, timeoutMs, timers);
    this.#deadlines.add(deadline);
    try {
      const { decision, sinceMs } = await this.#queues.enqueue(queue, deadline.signal, () =>
        waitUntilAllowed(attempt, deadline),
      );
      // This caller has left the wait queue, so the next ones can take their slots during this delay.
      await this.#slots.wait(queue, decision.delayMs, deadline, sinceMs).catch((error: unknown) => {
        attempt.refund(decision);
        throw error;
      });
      return decision;
    } finally {
      this.#deadlines.delete(deadline);
      deadline.dispose();
    }
  }

  /** Rejects these callers, and all later ones. */
  close(): void {
    this.#isClosed = true;
    for (const deadline of this.#deadlines) deadline.abort(limiterClosed());
  }
}

/** How long a caller waits at most. */
interface WaitLimits {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly timers: Timers;
}
