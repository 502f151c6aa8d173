import type { Clock } from '@rollgate/core';
import { onAbort, scheduleAfter, withCode } from '@rollgate/core/store';

/** Waits of calls, which end together when they are closed. */
export class Pauses {
  readonly #clock: Clock | undefined;
  readonly #ends = new Set<() => void>();
  #isClosed = false;

  constructor(clock: Clock | undefined) {
    this.#clock = clock;
  }

  /** Resolves at this time. Rejects with the reason of the signal if it is aborted before, or if the pauses are closed. */
  async until(timeMs: number, signal: AbortSignal | undefined): Promise<void> {
    const restMs = timeMs - (this.#clock ?? performance).now();
    if (restMs <= 0) return;
    signal?.throwIfAborted();
    let stop = () => {};
    try {
      await new Promise<void>((resolve, reject) => {
        const end = () => reject(signal?.aborted ? signal.reason : closedError());
        if (this.#isClosed) end();
        this.#ends.add(end);
        const cancelTimer = scheduleAfter(restMs, resolve, this.#clock);
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

  /** Ends all pauses, and all later ones. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends) end();
  }
}

function closedError(): Error {
  const message = 'Expected the calls to stay open until the wait ends, but `close` was called';
  return withCode('ERR_ROLLGATE_LIMITER_CLOSED', new Error(message));
}
