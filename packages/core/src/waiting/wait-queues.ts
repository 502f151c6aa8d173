import { createDeferred } from '../base/deferred.js';
import { unlessAborted } from '../base/unless-aborted.js';

/** A caller in a queue. The first one has no caller ahead and may work. */
class Caller {
  ahead: Caller | undefined;
  behind: Caller | undefined;
  /** Resolves when the caller is the first one. */
  readonly started = createDeferred();

  follow(ahead: Caller | undefined): void {
    this.ahead = ahead;
    if (ahead === undefined) this.started.resolve();
    else ahead.behind = this;
  }
}

/**
 * Queues of callers that wait for the same keys, each in the order of the calls. A caller starts when all earlier ones
 * have finished or stopped waiting. So no caller overtakes another one, and free quota wakes one caller instead of all.
 */
export class WaitQueues {
  /** The last caller of each queue. The queue is a linked list, so a caller that stops waiting leaves nothing behind. */
  readonly #last = new Map<string, Caller>();

  /**
   * Runs `work` when all earlier callers in the queue `name` are done. Rejects with the signal's reason if it aborts
   * before.
   */
  async enqueue<Result>(name: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const caller = new Caller();
    caller.follow(this.#last.get(name));
    this.#last.set(name, caller);
    try {
      if (caller.ahead !== undefined) await unlessAborted(caller.started.promise, signal);
      return await work();
    } finally {
      this.#remove(name, caller);
    }
  }

  #remove(name: string, { ahead, behind }: Caller): void {
    if (behind !== undefined) behind.follow(ahead);
    else if (ahead === undefined) this.#last.delete(name);
    else {
      ahead.behind = undefined;
      this.#last.set(name, ahead);
    }
  }
}
