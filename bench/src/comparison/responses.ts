import type { Outcome } from './library.js';

/** The outcome of an HTTP response. `retryAfter` is its header, in seconds. */
export function toOutcome(status: number, retryAfter: string | null | undefined): Outcome {
  if (status === 200) return { allowed: true };
  if (status !== 429) throw new Error(`Expected a response with the status 200 or 429, got ${status}`);
  return { allowed: false, retryAfterMs: retryAfter == null ? undefined : Number(retryAfter) * 1000 };
}
