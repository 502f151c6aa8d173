import { parseNumber, parseUnits } from '../headers/numbers.js';
import { parseReset } from '../headers/times.js';
import type { Dialect, QuotaReport, ResponseHead } from './dialect.js';

/** The known spellings, with the most frequent one first. `RateLimit-…` is that of the drafts up to 6. */
const PREFIXES = ['x-ratelimit', 'x-rate-limit', 'ratelimit', 'rate-limit'];

/** The window in the headers of older drafts, such as `100;w=60`. */
const WINDOW = /;\s*w=(\d{1,9})\s*(?:[;,]|$)/;

/** After how many milliseconds a call finds out what is free, if a response reports no reset. */
export const UNKNOWN_RESET_MS = 60_000;

/**
 * Reads the headers `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset`, also as `X-Rate-Limit-…`, `RateLimit-…`
 * and `Rate-Limit-…`. The reset may be seconds from now, a duration such as `30s`, a time since the Unix epoch in seconds or smaller
 * units, or a date. `…-Total` stands for `…-Limit`, `…-Usage` or `…-Used` for what is not left, and `…-Reset-After` for the reset.
 *
 * The quota is a window: it is free again at its reset. A header of several numbers, such as `100,1000`, has one quota for each.
 */
export function xRateLimit(): Dialect {
  return {
    name: 'x-rate-limit',
    units: ['requests'],
    read(response) {
      const quotas = PREFIXES.map((prefix) => readQuotas(response, prefix)).find(({ length }) => length > 0);
      return quotas && { quotas };
    },
  };
}

/** Returns the quotas in the headers with this prefix. A header of as many items as there are limits has one for each. */
function readQuotas(response: ResponseHead, prefix: string): QuotaReport[] {
  const itemsOf = (name: string) => response.header(name)?.split(',') ?? [];
  const { length } = itemsOf(`${prefix}-limit`);
  const isList = length > 1 && ['remaining', 'usage'].some((part) => itemsOf(`${prefix}-${part}`).length === length);
  if (!isList) return [readQuota(response, prefix) ?? []].flat();
  return Array.from({ length }, (_, index) => {
    const header = (name: string) => (itemsOf(name).length === length ? itemsOf(name)[index]! : undefined);
    const quota = readQuota({ ...response, header }, prefix);
    return quota === undefined ? [] : { ...quota, name: String(index + 1) };
  }).flat();
}

/** Returns the quota in the headers with this prefix, or `undefined` if they report none. */
export function readQuota(response: ResponseHead, prefix: string): QuotaReport | undefined {
  const limitHeader = response.header(`${prefix}-limit`) ?? response.header(`${prefix}-total`);
  const limit = parseUnits(limitHeader);
  const used = parseUnits(response.header(`${prefix}-usage`) ?? response.header(`${prefix}-used`));
  const left = limit !== undefined && used !== undefined ? Math.max(0, limit - used) : undefined;
  const remaining = parseUnits(response.header(`${prefix}-remaining`)) ?? left;
  if (remaining === undefined) return undefined;
  const resetMs =
    parseReset(response.header(`${prefix}-reset-after`) ?? response.header(`${prefix}-reset`), response.serverMs) ??
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
