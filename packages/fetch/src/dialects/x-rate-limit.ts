import { parseNumber, parseUnits } from '../headers/numbers.js';
import { parseReset } from '../headers/times.js';
import type { Dialect, QuotaReport, ResponseHead } from './dialect.js';

/** The known spellings, with the most frequent one first. The last one is that of the drafts up to 6. */
const PREFIXES = ['x-ratelimit', 'x-rate-limit', 'ratelimit'];

/** The window in the headers of older drafts, such as `100;w=60`. */
const WINDOW = /;\s*w=(\d{1,9})\s*(?:[;,]|$)/;

/** After how many milliseconds a call finds out what is free, if a response reports no reset. */
export const UNKNOWN_RESET_MS = 60_000;

/**
 * Reads the headers `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`, also as `X-Rate-Limit-…` and
 * `RateLimit-…`. The reset may be seconds from now, a time since the Unix epoch in seconds or milliseconds, or a date.
 *
 * The quota is a window: it is free again at its reset.
 */
export function xRateLimit(): Dialect {
  return {
    name: 'x-rate-limit',
    units: ['requests'],
    read(response) {
      const quota = PREFIXES.map((prefix) => readQuota(response, prefix)).find((read) => read !== undefined);
      return quota && { quotas: [quota] };
    },
  };
}

/** Returns the quota in the headers with this prefix, or `undefined` if they report none. */
export function readQuota(response: ResponseHead, prefix: string): QuotaReport | undefined {
  const limitHeader = response.header(`${prefix}-limit`);
  const remaining = parseUnits(response.header(`${prefix}-remaining`));
  if (remaining === undefined) return undefined;
  const limit = parseUnits(limitHeader);
  const resetMs =
    parseReset(response.header(`${prefix}-reset`), response.serverMs) ??
    secondsToMs(WINDOW.exec(limitHeader ?? '')?.[1]);
  const isWindow = limit !== undefined && resetMs !== undefined;
  return {
    unit: 'requests',
    limit,
    remaining,
    resetMs: resetMs ?? UNKNOWN_RESET_MS,
    kind: isWindow ? 'window' : 'rolling',
  };
}

function secondsToMs(seconds: string | undefined): number | undefined {
  const number = parseNumber(seconds);
  return number === undefined ? undefined : number * 1000;
}
