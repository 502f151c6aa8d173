/**
 * Resolves in the next turn of the event loop. By then, every promise reaction and every callback of `process.nextTick` has
 * run that waits for nothing else, as well as those that they queue. Timers and input may come before or after it.
 */
export function flushPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
