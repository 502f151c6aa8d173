/** Rounds up, so that a client that waits this long is not rejected again. */
export function ceilSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}
