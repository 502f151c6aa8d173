import { unlessAborted } from './unless-aborted.js';

/**
 * Queues of callers that wait for the same keys, each in the order of the calls. A caller starts when all earlier ones
 * have finished or stopped waiting. So no caller overtakes another one, and free quota wakes one caller instead of all.
 */
export class WaitQueues {
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Runs `work` when all earlier callers in the queue `name` are done. Rejects with the signal's reason if it aborts
   * before.
   */
  async enqueue<Result>(name: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const previous = this.#tails.get(name);
    let finish!: () => void;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const tail = previous === undefined ? finished : previous.then(() => finished);
    this.#tails.set(name, tail);
    try {
      if (previous !== undefined) await unlessAborted(previous, signal);
      return await work();
    } finally {
      finish();
      tail.then(() => {
        if (this.#tails.get(name) === tail) this.#tails.delete(name);
      });
    }
  }
}
