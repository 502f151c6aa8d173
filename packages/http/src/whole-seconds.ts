/** Up, always: a client that waits as long as it was told must not be refused again. */
export function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}
