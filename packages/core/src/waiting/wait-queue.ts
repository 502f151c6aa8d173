import { createDeferred } from '../base/deferred.js';
import type { Decision } from '../decision/decision.js';
import { costAt } from '../plan/plan.js';
import { namesOf } from '../store/quota-waiters.js';
import type { Cancellation } from './cancellation.js';
import type { WaitCall } from './wait-call.js';

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

/** The start for which an allowed caller waits. */
interface Start {
  /** The states of the queues that delay it. */
  readonly states: readonly string[];
  /** When the caller starts, and before which time its decision forbids that. */
  readonly startMs: number;
  readonly earliestMs: number;
  /** Resolves when the caller has started or has stopped waiting. */
  readonly end: Promise<void>;
}

/** Timers round to microseconds, so callers whose times are this far apart start in order. */
const ROUNDING_MS = 0.002;

/** The callers of one limiter that wait for the same keys, in the order of their calls. */
export class WaitQueue {
  /** What cancels the waits of its callers, those for the start of an action included. */
  readonly open = new Set<Cancellation>();
  /** The last caller. The callers are a linked list, so one that stops waiting leaves nothing behind. */
  #last: Caller | undefined;
  /** Those of the allowed callers that wait, in the order of the calls. */
  readonly #starts: Start[] = [];

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
   * The last start that the action of this call would overtake at `startMs`. The store has then lost the queue in between, for
   * example because of a reset.
   */
  findOvertaken(call: WaitCall, startMs: number): Start | undefined {
    const last = this.#lastStart(call);
    return last !== undefined && startMs < last.earliestMs ? last : undefined;
  }

  /**
   * Resolves when the action of an allowed caller starts.
   *
   * A decision reports how far the start is from the time of the decision. A busy process may read it much later. A caller
   * then starts late, and must not be overtaken by the next one, whose decision the process reads in time.
   */
  async waitForStart(call: WaitCall, reply: Reply, cancellation: Cancellation): Promise<void> {
    const { decision, sentMs, repliedMs } = reply;
    const { delayMs } = decision;
    const last = this.#lastStart(call);
    if (delayMs === 0 && last === undefined) return;
    cancellation.throwIfTooLong(delayMs, repliedMs);
    const { promise: end, resolve: finish } = createDeferred();
    const startMs = Math.max(repliedMs + delayMs, last === undefined ? -Infinity : last.startMs + ROUNDING_MS);
    const start: Start = { states: queuesOf(call), startMs, earliestMs: sentMs + delayMs, end };
    this.#starts.push(start);
    try {
      await cancellation.sleep(startMs - repliedMs, repliedMs);
    } finally {
      this.#starts.splice(this.#starts.indexOf(start), 1);
      finish();
    }
  }

  /** The last start in a queue of this call. */
  #lastStart(call: WaitCall): Start | undefined {
    if (this.#starts.length === 0) return undefined;
    const states = queuesOf(call);
    return this.#starts.findLast((start) => start.states.some((state) => states.includes(state)));
  }
}

/** The states of the queues that may delay this call. */
function queuesOf({ store, plan, keys, costs }: WaitCall): string[] {
  const { rules } = plan;
  return namesOf(store, plan, keys).filter((_, index) => rules[index]!.limit.canDelay && costAt(costs, index) > 0);
}
