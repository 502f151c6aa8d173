import { parseNumber } from '../headers/numbers.js';
import { parseReset } from '../headers/times.js';
import type { ResponseHead, ResponseReport } from './dialect.js';

/** The statuses of a server that has too much work, whatever the quotas. */
const OVERLOADED = [503, 529];

const NUMBERS = /^\s*\d/;
/** Dates contain commas. */
const BETWEEN_DATES = /(?<=GMT)\s*,\s*/;

/**
 * Returns the milliseconds of the headers `Retry-After-Ms` and `Retry-After`, which is in seconds or a date. Of several, the longest
 * counts. A date that is not in the future reports no wait, because the clocks of the servers disagree.
 */
export function readRetryAfter(response: ResponseHead): number | undefined {
  return parseRetryAfter(response)?.waitMs;
}

/** Whether one of these headers is valid, even if it reports no wait. */
export function hasRetryAfter(response: ResponseHead): boolean {
  return parseRetryAfter(response) !== undefined;
}

function parseRetryAfter(response: ResponseHead): { readonly waitMs: number | undefined } | undefined {
  const ms = parseNumber(response.header('retry-after-ms'));
  if (ms !== undefined) return { waitMs: Math.ceil(ms) };
  const header = response.header('retry-after') ?? '';
  const items = header.split(NUMBERS.test(header) ? /\s*,\s*/ : BETWEEN_DATES);
  const waits = items.flatMap((item) => parseReset(item, response.serverMs) ?? []);
  if (waits.length === 0) return undefined;
  const longestMs = Math.max(...waits);
  return { waitMs: longestMs > 0 || parseNumber(header) === 0 ? longestMs : undefined };
}

/** Returns what a response reports whatever its dialect is: the status 429, and `Retry-After`. */
export function readStatus(response: ResponseHead): ResponseReport {
  const isLimited = response.status === 429;
  // The `Retry-After` of these means that the server handles no calls until then. That of a redirection means less.
  const retryAfter = isLimited || isOverload(response) ? parseRetryAfter(response) : undefined;
  return { isRejected: isLimited || retryAfter !== undefined, retryAfterMs: retryAfter?.waitMs };
}

/** Whether the server has too much work. */
export function isOverload({ status }: ResponseHead): boolean {
  return OVERLOADED.includes(status);
}
