/** What `setTimeout` returns: an object in Node, a number elsewhere. */
export type Timer = ReturnType<typeof setTimeout>;

/** Starts a timer that does not keep the process alive, where the platform has timers that do. */
export function startBackgroundTimer(callback: () => void, delayMs: number): Timer {
  const timer = setTimeout(callback, delayMs);
  timer.unref?.();
  return timer;
}
