/** Lets the test runner's timers run. With a store that never waits for I/O, a long property would starve them. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
