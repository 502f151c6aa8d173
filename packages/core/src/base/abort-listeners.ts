import { getOrInsert } from './get-or-insert.js';

/** The callbacks of one signal, as its listener. */
class Callbacks extends Set<() => void> {
  handleEvent(): void {
    for (const callback of this) callback();
  }
}

const ofSignals = new WeakMap<AbortSignal, Callbacks>();

/**
 * Calls `callback` when the signal aborts, and returns a function that prevents that. All callbacks of a signal share one
 * listener, because Node warns about a leak when a signal has more than ten. The signal must not have aborted yet.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const callbacks = getOrInsert(ofSignals, signal, () => new Callbacks()).add(callback);
  signal.addEventListener('abort', callbacks);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0) signal.removeEventListener('abort', callbacks);
  };
}
