// The counterpart of `abort-listeners.ts` for platforms other than Node, which do not warn about many listeners.

/** Calls `callback` when the signal aborts, and returns a function that prevents that. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  signal.addEventListener('abort', callback);
  return () => signal.removeEventListener('abort', callback);
}
