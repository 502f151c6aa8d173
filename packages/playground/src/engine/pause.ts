/** The resolution of the page's clock, which browsers reduce against timing attacks. */
const COARSE_MS = 1;

/**
 * Resolves after that time, never earlier. A plain timer may be early by a fraction of a millisecond.
 *
 * @throws The signal's reason when it aborts.
 */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  const endMs = performance.now() + Math.max(0, ms);
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout>;
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const finishWhenDue = () => {
      const leftMs = endMs - performance.now();
      if (leftMs > 0) {
        timer = setTimeout(finishWhenDue, leftMs + COARSE_MS);
        return;
      }
      signal.removeEventListener('abort', abort);
      resolve();
    };
    if (signal.aborted) reject(signal.reason);
    else {
      signal.addEventListener('abort', abort, { once: true });
      timer = setTimeout(finishWhenDue, Math.max(0, ms) + COARSE_MS);
    }
  });
}
