import type { Clock } from '@rollgate/core';
import { onAbort, scheduleAfter, withCode } from '@rollgate/core/store';

/** Waits of calls, which end together when they are closed. */
export class Pauses {
  readonly #ends = new Set<() => void>();
  #isClosed = false;

  constructor(private readonly clock: Clock | undefined) {}

  /** Resolves at this time. Rejects with the reason of the signal if it is aborted before, or if the pauses are closed. */
  async until(timeMs: number, signal: AbortSignal | undefined): Promise<void> {
    const restMs = timeMs - (this.clock ?? performance).now();
    if (restMs <= 0) return;
    await this.#pause<void>(signal, (resolve) => scheduleAfter(restMs, resolve, this.clock));
  }

  /** Resolves to what a function of the user returns. Rejects like {@link until}, and after so many milliseconds. */
  resultOf<Value>(
    name: string,
    call: () => Promise<Value>,
    mostMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Value> {
    return this.#pause<Value>(signal, (resolve, reject) => {
      call().then(resolve, reject);
      return scheduleAfter(mostMs, () => reject(timeoutError(name, mostMs)), this.clock);
    });
  }

  /** Ends all pauses, and all later ones. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends) end();
  }

  /** @param begin Begins the pause, and returns what cancels its timer. */
  async #pause<Value>(
    signal: AbortSignal | undefined,
    begin: (resolve: (value: Value) => void, reject: (reason: unknown) => void) => () => void,
  ): Promise<Value> {
    signal?.throwIfAborted();
    if (this.#isClosed) throw closedError();
    let stop = () => {};
    try {
      return await new Promise<Value>((resolve, reject) => {
        const end = () => reject(signal?.aborted ? signal.reason : closedError());
        this.#ends.add(end);
        const cancelTimer = begin(resolve, reject);
        const removeListener = signal && onAbort(signal, end);
        stop = () => {
          this.#ends.delete(end);
          cancelTimer();
          removeListener?.();
        };
      });
    } finally {
      stop();
    }
  }
}

function closedError(): Error {
  const message = 'Expected the calls to stay open until the wait ends, but `close` was called';
  return withCode('ERR_ROLLGATE_LIMITER_CLOSED', new Error(message));
}

function timeoutError(name: string, ms: number): Error {
  const message = `Timed out: \`${name}\` has not returned after ${ms} ms, the rest of \`maxWait\``;
  return withCode('ERR_ROLLGATE_WAIT_TIMEOUT', new DOMException(message, 'TimeoutError'));
}
