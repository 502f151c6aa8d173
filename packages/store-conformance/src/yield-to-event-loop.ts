/**
 * Resolves in the next turn of the event loop: due timers run, and so do all promise reactions that wait for nothing else.
 * Without it, a long property with a store that never waits for I/O delays the timers of the test runner.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
