import { AsyncResource } from 'node:async_hooks';
import { monotonicClock, readMicros } from './clock.js';
import { PriorityQueue, type QueueMember } from './priority-queue.js';
import { invalidNumber } from './validate.js';

/** The longest that a Node timer can be set for, about 24.8 days; longer waits are slept in parts. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Somebody who waits for a moment. */
class Scheduled implements QueueMember {
  priority = 0;
  queueIndex = -1;
  constructor(readonly leave: () => void) {}
}

/**
 * All who are held in this process, on one timer: with a timer for each, Node would call those that are late in another
 * order than that of their moments.
 */
const held = new PriorityQueue<Scheduled>();
let timer: NodeJS.Timeout | undefined;
/** Whom the timer is set for. */
let next: Scheduled | undefined;

/**
 * Calls `leave`, in the caller's async context, once `delayMs` have passed: never before, after however many weeks, and
 * in the order of the moments, also when the process is late for several. Until then the process stays alive.
 *
 * @returns What lets go: `leave` is then not called any more. Harmless afterwards.
 * @throws TypeError, RangeError for a delay that is no finite number from 0.
 */
export function scheduleAfter(delayMs: number, leave: () => void): () => void {
  // Everybody in the process is on one queue, which a NaN would put out of order.
  if (!Number.isFinite(delayMs) || delayMs < 0) throw invalidNumber('delayMs', 'a finite number from 0', delayMs);
  const one = new Scheduled(AsyncResource.bind(leave));
  held.add(one, readMicros(monotonicClock) + Math.ceil(delayMs * 1000));
  setTimer();
  return function cancel() {
    if (!held.has(one)) return;
    held.remove(one);
    setTimer();
  };
}

function setTimer(): void {
  const first = held.first;
  if (first === next) return;
  clearTimeout(timer);
  next = first;
  if (first === undefined) return;
  const leftMs = Math.ceil((first.priority - readMicros(monotonicClock)) / 1000);
  timer = setTimeout(releaseDue, Math.min(leftMs, MAX_TIMER_MS));
}

/** A timer may also be early: by its millisecond, or by the parts of a long wait. Then it is only set again. */
function releaseDue(): void {
  next = undefined;
  const nowMicros = readMicros(monotonicClock);
  try {
    for (let first = held.first; first !== undefined && first.priority <= nowMicros; first = held.first) {
      held.remove(first);
      first.leave();
    }
  } finally {
    setTimer(); // Also when somebody's leaving failed: the others are not to stay.
  }
}
