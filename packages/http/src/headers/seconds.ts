/** Rounds up, so that a client that waits this long is not rejected again. */
export function ceilSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/**
 * Converts a wait to the seconds of `Retry-After`.
 *
 * @returns At least 1, because 0 would make clients retry at once; `undefined` for a wait without end.
 */
export function toRetryAfterSeconds(retryAfterMs: number): number | undefined {
  return retryAfterMs === Infinity ? undefined : Math.max(1, ceilSeconds(retryAfterMs));
}
