import { createDeferred } from '../util/awaitable.js';
import { getOrInsert } from '../util/get-or-insert.js';
import type { Cancellation } from './cancellation.js';

/** The start for which an allowed caller waits. */
interface Start {
  /** When the caller starts, and before which time its decision forbids that. */
  readonly startMs: number;
  readonly earliestMs: number;
  /** Resolves when the caller has started or has stopped waiting. */
  readonly end: Promise<void>;
}

/** Timers round to microseconds, so callers whose times are this far apart start in order. */
const ROUNDING_MS = 0.002;

/** The starts for which callers wait, by the names of the queues that delay them. */
const startsByBackend = new WeakMap<object, Map<string, Start[]>>();

/**
 * Keeps the delayed starts of one call in order, with those of all calls in the same queues of this process. A limit that delays brings it.
 */
export class StartOrder {
  readonly #starts: Map<string, Start[]>;
  readonly #queues: readonly string[];

  /**
   * @param backend The backend of the store. Limiters on it share the queues.
   * @param queues The names of the states that delay the call.
   */
  constructor(backend: object, queues: readonly string[]) {
    this.#queues = queues;
    this.#starts = getOrInsert(startsByBackend, backend, () => new Map());
  }

  /**
   * Waits until an action that would start after `delayMs` overtakes no start. Returns `undefined` if it overtakes none. Otherwise
   * the store has lost the queue, for example because of a reset.
   */
  passOvertaken(delayMs: number, sentMs: number, cancellation: Cancellation): Promise<void> | undefined {
    const repliedMs = cancellation.timers.replyMs(sentMs);
    const overtaken = this.#lastOfEach.find((start) => repliedMs + delayMs < start.earliestMs);
    if (overtaken === undefined) return undefined;
    cancellation.throwIfTooLong(overtaken.startMs - repliedMs, repliedMs);
    return cancellation.unlessCanceled(overtaken.end);
  }

  /**
   * Resolves when the action of an allowed caller starts. The store has decided between `sentMs` and `repliedMs`.
   *
   * A decision reports how far the start is from the time of the decision. A busy process may read it much later. A caller
   * then starts late, and must not be overtaken by the next one, whose decision the process reads in time.
   */
  async wait(delayMs: number, sentMs: number, repliedMs: number, cancellation: Cancellation): Promise<void> {
    const aheadMs = this.#lastOfEach.map((last) => last.startMs + ROUNDING_MS);
    if (delayMs === 0 && aheadMs.length === 0) return;
    cancellation.throwIfTooLong(delayMs, repliedMs);
    const { promise: end, resolve: finish } = createDeferred();
    const startMs = Math.max(repliedMs + delayMs, ...aheadMs);
    const start: Start = { startMs, earliestMs: sentMs + delayMs, end };
    for (const queue of this.#queues) getOrInsert(this.#starts, queue, () => []).push(start);
    try {
      await cancellation.sleep(startMs - repliedMs, repliedMs);
    } finally {
      for (const queue of this.#queues) this.#remove(start, queue);
      finish();
    }
  }

  /** The last start in each of the queues. */
  get #lastOfEach(): Start[] {
    return this.#queues.flatMap((queue) => this.#starts.get(queue)?.at(-1) ?? []);
  }

  #remove(start: Start, queue: string): void {
    const starts = this.#starts.get(queue)!;
    starts.splice(starts.indexOf(start), 1);
    if (starts.length === 0) this.#starts.delete(queue);
  }
}
