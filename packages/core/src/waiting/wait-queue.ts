import { createDeferred } from '../base/deferred.js';
import type { Decision } from '../decision/decision.js';
import type { Cancellation } from './cancellation.js';

/** A decision, which the store has made between these times. */
export interface Reply {
  readonly decision: Decision;
  readonly sentMs: number;
  readonly repliedMs: number;
}

/** A caller that waits until the action is allowed. The first one has no caller ahead, and it is its turn. */
class Caller {
  ahead: Caller | undefined;
  behind: Caller | undefined;
  readonly turn = createDeferred();

  follow(ahead: Caller | undefined): void {
    this.ahead = ahead;
    if (ahead === undefined) this.turn.resolve();
    else ahead.behind = this;
  }
}

/** Timers round to microseconds, so callers whose times are this far apart start in order. */
const ROUNDING_MS = 0.002;

/** The callers of one limiter that wait for the same keys, in the order of their calls. */
export class WaitQueue {
  /** What cancels the waits of its callers, those for the start of an action included. */
  readonly open = new Set<Cancellation>();
  /** The last caller. The callers are a linked list, so one that stops waiting leaves nothing behind. */
  #last: Caller | undefined;
  /** How many allowed callers wait for the start of their action. */
  #starting = 0;
  /** When the last of them starts, and before which time its decision forbids that. */
  #startMs = 0;
  #earliestMs = 0;

  /**
   * Runs `work` when all earlier callers are done with theirs or have stopped waiting. So no caller overtakes another one,
   * and free quota wakes one caller instead of all.
   */
  async takeTurn<Result>(cancellation: Cancellation, work: () => Promise<Result>): Promise<Result> {
    const caller = new Caller();
    caller.follow(this.#last);
    this.#last = caller;
    try {
      if (caller.ahead !== undefined) await cancellation.unlessCanceled(caller.turn.promise);
      return await work();
    } finally {
      const { ahead, behind } = caller;
      if (ahead !== undefined) ahead.behind = behind;
      if (behind === undefined) this.#last = ahead;
      else behind.follow(ahead);
    }
  }

  /**
   * Resolves when the action of an allowed caller starts.
   *
   * A decision reports how far the start is from the time of the decision. A busy process may read it much later. A caller
   * then starts late, and must not be overtaken by the next one, whose decision the process reads in time.
   */
  async waitForStart({ decision, sentMs, repliedMs }: Reply, cancellation: Cancellation): Promise<void> {
    const { delayMs } = decision;
    const latestMs = repliedMs + delayMs;
    // Otherwise the start is before that of the last caller, which waits for another limit of the plan.
    const isBehind = this.#starting > 0 && latestMs >= this.#earliestMs;
    if (delayMs === 0 && !isBehind) return;
    cancellation.throwIfTooLong(delayMs, repliedMs);
    this.#startMs = isBehind && latestMs < this.#startMs ? this.#startMs + ROUNDING_MS : latestMs;
    this.#earliestMs = sentMs + delayMs;
    this.#starting += 1;
    try {
      await cancellation.sleep(this.#startMs - repliedMs, repliedMs);
    } finally {
      this.#starting -= 1;
    }
  }
}
