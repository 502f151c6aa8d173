/** What `setTimeout` returns: an object in Node, a number elsewhere. */
export type Timer = ReturnType<typeof setTimeout>;

/** The longest delay of a timer, about 24.8 days. A longer wait takes several timers. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Starts a timer that does not keep the process alive, where the platform has timers that do. */
export function startBackgroundTimer(callback: () => void, delayMs: number): Timer {
  const timer = setTimeout(callback, delayMs);
  timer.unref?.();
  return timer;
}
