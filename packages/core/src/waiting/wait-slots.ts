import type { Deadline } from '../time/timeout-signal.js';
import { sleep } from './wait.js';

/** The callers of a queue that wait for their slots, and the slot of the last one. */
interface SlotWaiters {
  count: number;
  /** The slot is at this time or later. */
  earliestMs: number;
  /** The caller starts at this time. */
  dueMs: number;
}

/** Timers round to microseconds, so callers whose times are this far apart start in order. */
const ROUNDING_MS = 0.002;

/**
 * Starts callers at the slots of their decisions, in the order of the calls.
 *
 * A decision says how far its slot is from the time of the decision. A busy process may read it much later. A caller then
 * starts late, and must not be overtaken by the next one, whose decision the process reads in time.
 */
export class WaitSlots {
  readonly #queues = new Map<string, SlotWaiters>();

  /** Resolves at the slot that a decision made after `sinceMs` has assigned. */
  async wait(queue: string, delayMs: number, deadline: Deadline, sinceMs: number): Promise<void> {
    const last = this.#queues.get(queue);
    if (delayMs === 0 && last === undefined) return;
    deadline.throwIfPast(delayMs, sinceMs);
    const startMs = deadline.timers.startOfDelays(sinceMs);
    const slotMs = startMs + delayMs;
    // Otherwise the slot is before that of the last caller, which waits for another limit of the plan.
    const isBehind = last !== undefined && slotMs >= last.earliestMs;
    if (delayMs === 0 && !isBehind) return;
    const dueMs = isBehind && slotMs < last.dueMs ? last.dueMs + ROUNDING_MS : slotMs;
    const waiters = last ?? { count: 0, earliestMs: 0, dueMs: 0 };
    waiters.count += 1;
    waiters.earliestMs = sinceMs + delayMs;
    waiters.dueMs = dueMs;
    this.#queues.set(queue, waiters);
    try {
      await sleep(dueMs - startMs, deadline, startMs);
    } finally {
      waiters.count -= 1;
      if (waiters.count === 0) this.#queues.delete(queue);
    }
  }
}
