import type { Clock } from '@rollgate/core';
import { scheduleAfter } from '@rollgate/core/store';

/** Resolves after `ms` milliseconds. Rejects with the reason of the first signal that is aborted before. */
export async function pause(ms: number, signals: readonly (AbortSignal | undefined)[], clock?: Clock): Promise<void> {
  if (ms === 0) return;
  let stop = () => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const cancelTimer = scheduleAfter(ms, resolve, clock);
      const removers = signals.map((signal) => onAbort(signal, reject));
      stop = () => {
        cancelTimer();
        for (const remove of removers) remove();
      };
    });
  } finally {
    stop();
  }
}

function onAbort(signal: AbortSignal | undefined, reject: (reason: unknown) => void): () => void {
  const abort = () => reject(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener('abort', abort);
  return () => signal?.removeEventListener('abort', abort);
}
