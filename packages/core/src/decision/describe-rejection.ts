import type { Decision } from './decision.js';

/** The `code` of every rejection, for programs to compare with. */
export const REJECTION_CODE = 'RATE_LIMIT_EXCEEDED';

/**
 * Converts the wait of a rejection to the seconds of `Retry-After`.
 *
 * @returns At least 1, because 0 would make clients retry at once; `undefined` for a wait without end.
 */
export function toRetryAfterSeconds(retryAfterMs: number): number | undefined {
  return retryAfterMs === Infinity ? undefined : Math.max(1, Math.ceil(retryAfterMs / 1000));
}

/** The seconds and the text of the last rejection, because many rejections in a row have the same. */
let lastSeconds = 0;
let lastText = '';

/** Returns a sentence about a rejection. */
export function describeRejection(decision: Decision): string {
  const seconds = toRetryAfterSeconds(decision.retryAfterMs);
  if (seconds === undefined && decision.reason === 'blocked') return 'Access is blocked';
  if (seconds === undefined && decision.limit === 0) return 'Rate limit exceeded: no requests are allowed';
  if (seconds === undefined) return 'Rate limit exceeded: this request alone exceeds the limit';
  if (seconds !== lastSeconds)
    lastText = `Rate limit exceeded: try again in ${seconds} second${seconds === 1 ? '' : 's'}`;
  lastSeconds = seconds;
  return lastText;
}
