/**
 * When an allowed action starts: the time of its decision plus its delay, in whole microseconds. A count of what a limit
 * allowed within a window counts starts. A sum of milliseconds may be a rounding error too early, and so in a wrong window.
 *
 * @param decidedMs The time by which the store decided, in milliseconds.
 * @param delayMs The decision's `delayMs`.
 */
export function startMicros(decidedMs: number, delayMs: number): number {
  return Math.round(decidedMs * 1000) + Math.round(delayMs * 1000);
}
