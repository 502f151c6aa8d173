import { parseNumber } from '../headers/numbers.js';
import { parseReset } from '../headers/times.js';
import type { ResponseHead, ResponseReport } from './dialect.js';

/** The statuses whose `Retry-After` means that the server handles no calls until then. Of a redirection it means less. */
const UNAVAILABLE = [429, 503, 529];

/** Returns the milliseconds of the headers `Retry-After-Ms` and `Retry-After`, which is in seconds or a date. */
export function readRetryAfter(response: ResponseHead): number | undefined {
  const ms = parseNumber(response.header('retry-after-ms'));
  return ms === undefined ? parseReset(response.header('retry-after'), response.serverMs) : Math.ceil(ms);
}

/** Returns what a response reports whatever its dialect is: the status 429, and `Retry-After`. */
export function readStatus(response: ResponseHead): ResponseReport {
  const isUnavailable = UNAVAILABLE.includes(response.status);
  const retryAfterMs = isUnavailable ? readRetryAfter(response) : undefined;
  return { isRejected: response.status === 429 || retryAfterMs !== undefined, retryAfterMs };
}
