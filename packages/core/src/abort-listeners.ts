/** What the abort of a signal calls. */
interface Listeners {
  readonly callbacks: Set<() => void>;
  readonly run: () => void;
}

const ofSignals = new WeakMap<AbortSignal, Listeners>();

/**
 * Calls `callback` when the signal aborts, and returns a function that prevents that. All callbacks of a signal share one
 * listener, because Node warns about a leak when a signal has more than ten. The signal must not have aborted yet.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let listeners = ofSignals.get(signal);
  if (listeners === undefined) {
    const callbacks = new Set<() => void>();
    const run = () => {
      for (const one of callbacks) one();
    };
    listeners = { callbacks, run };
    ofSignals.set(signal, listeners);
    signal.addEventListener('abort', run, { once: true });
  }
  const { callbacks, run } = listeners;
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    signal.removeEventListener('abort', run);
    ofSignals.delete(signal);
  };
}
