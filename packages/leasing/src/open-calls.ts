import type { Awaitable } from '@rollgate/core';
import { isThenable } from '@rollgate/core/store';

/** How long a store that closes waits for replies. Some clients never reply after a lost connection. */
const CLOSING_MS = 1000;

/** The calls of the inner store that are under way. */
export class OpenCalls {
  isClosed = false;
  readonly #calls = new Set<PromiseLike<unknown>>();

  /** Returns the result, and keeps it until it comes. */
  track<Result>(result: Awaitable<Result>): Awaitable<Result> {
    if (!isThenable(result)) return result;
    const end = () => {
      this.#calls.delete(result);
    };
    this.#calls.add(result);
    result.then(end, end);
    return result;
  }

  /** Resolves when no call is under way, or after a second. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise((resolve) => {
      timer = setTimeout(resolve, CLOSING_MS);
    });
    await Promise.race([timeout, this.#end()]);
    clearTimeout(timer);
  }

  /** The end of a call may start another one. */
  async #end(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
  }
}
