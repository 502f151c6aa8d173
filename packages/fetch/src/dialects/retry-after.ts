import { parseNumber } from '../headers/numbers.js';
import { parseReset } from '../headers/times.js';
import type { ResponseHead, ResponseReport } from './dialect.js';

/** The statuses of a server that has too much work, whatever the quotas. */
const OVERLOADED = [503, 529];

/**
 * Returns the milliseconds of the headers `Retry-After-Ms` and `Retry-After`, which is in seconds or a date. Of several numbers, the
 * longest counts. A date that is not in the future reports no wait, because the clocks of the servers disagree.
 */
export function readRetryAfter(response: ResponseHead): number | undefined {
  const ms = parseNumber(response.header('retry-after-ms'));
  if (ms !== undefined) return Math.ceil(ms);
  const longestMs = longestRetryAfter(response);
  return longestMs === 0 && parseNumber(response.header('retry-after')) !== 0 ? undefined : longestMs;
}

/** Whether one of these headers is valid, even if it reports no wait. */
export function hasRetryAfter(response: ResponseHead): boolean {
  return parseNumber(response.header('retry-after-ms')) !== undefined || longestRetryAfter(response) !== undefined;
}

function longestRetryAfter(response: ResponseHead): number | undefined {
  const header = response.header('retry-after');
  const items = header !== undefined && /^\s*\d/.test(header) ? header.split(',') : [header];
  const waits = items.flatMap((item) => parseReset(item, response.serverMs) ?? []);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Returns what a response reports whatever its dialect is: the status 429, and `Retry-After`. */
export function readStatus(response: ResponseHead): ResponseReport {
  const isLimited = response.status === 429;
  const mayDemand = isLimited || isOverload(response);
  const isRejected = isLimited || (mayDemand && hasRetryAfter(response));
  // The `Retry-After` of these means that the server handles no calls until then. That of a redirection means less.
  return { isRejected, retryAfterMs: mayDemand ? readRetryAfter(response) : undefined };
}

/** Whether the server has too much work. */
export function isOverload({ status }: ResponseHead): boolean {
  return OVERLOADED.includes(status);
}
