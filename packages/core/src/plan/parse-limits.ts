import { getOrCache, getOrInsert } from '../base/get-or-insert.js';
import { isLimit } from '../limits/limit.js';
import { windowOfText } from '../limits/window-text.js';
import type { ParsedLimits } from './keys-and-limits.js';

const byObject = new WeakMap<object, object>();
const byTexts = new Map<string, object>();

/**
 * Returns limits without text: rolling windows in place of text such as `100/1m`. Limits without text stay the same object, and
 * equal texts become the same object, because each object has its own plan.
 *
 * @param limits Limits, or any other value, which stays as it is.
 * @throws TypeError for wrong text.
 */
export function parseLimits(limits: unknown): unknown {
  if (typeof limits === 'string') return windowOfText('limits', limits);
  if (typeof limits !== 'object' || limits === null || isLimit(limits) || !hasText(limits)) return limits;
  return getOrInsert(byObject, limits, () => parseRecord(limits));
}

function hasText(record: object): boolean {
  for (const name in record) if (typeof record[name as never] === 'string') return true;
  return false;
}

/** A function of the request may return a new record for each one. */
function parseRecord(record: object): object {
  const isText = Object.values(record).every((limit) => typeof limit === 'string');
  if (!isText) return toWindows(record);
  return getOrCache(byTexts, JSON.stringify(record), () => toWindows(record));
}

function toWindows(record: object): object {
  const parsed = Object.entries(record).map(([name, limit]) => [
    name,
    typeof limit === 'string' ? windowOfText(`limits.${name}`, limit) : limit,
  ]);
  return Object.fromEntries(parsed);
}

/** Like {@link parseLimits}, for limits that are known to be valid apart from their text. */
export const toParsedLimits = parseLimits as (limits: unknown) => ParsedLimits;
