import { isLimit } from '../limits/limit.js';
import { windowOfText } from '../limits/window-text.js';
import { getOrCache, getOrInsert } from '../util/get-or-insert.js';
import type { ParsedLimits } from './keys-and-limits.js';

const byObject = new WeakMap<object, object>();
const byParts = new Map<string, object>();

const numbers = new WeakMap<object, number>();
let lastNumber = 0;
/** Returns the number of a limit, which no other one has. */
const numberOf = (limit: object): number => getOrInsert(numbers, limit, () => ++lastNumber);

/**
 * Returns limits without text: rolling windows in place of text such as `100/1m`. Limits without text stay the same object, and
 * records of equal texts and the same limits become the same object, because each object has its own plan.
 *
 * @param limits Limits, or any other value, which stays as it is.
 * @param option The option that has the limits.
 * @throws TypeError for wrong text.
 */
export function parseLimits(limits: unknown, option = 'limits'): unknown {
  if (typeof limits === 'string') return windowOfText(option, limits);
  if (typeof limits !== 'object' || limits === null || isLimit(limits) || !hasText(limits)) return limits;
  return getOrInsert(byObject, limits, () => parseRecord(limits, option));
}

function hasText(record: object): boolean {
  for (const name in record) if (typeof record[name as never] === 'string') return true;
  return false;
}

/** A function of the request may return a new record for each one, with the same texts and limits. */
function parseRecord(record: object, option: string): object {
  if (!Object.values(record).every((limit) => typeof limit === 'string' || isLimit(limit)))
    return toWindows(record, option);
  const known = JSON.stringify(Object.entries(record).map(toPart));
  return byParts.get(known) ?? getOrCache(byParts, known, () => toWindows(record, option));
}

const toPart = ([name, limit]: [string, unknown]) => [name, isLimit(limit) ? numberOf(limit) : limit];

function toWindows(record: object, option: string): object {
  const parsed = Object.entries(record).map(([name, limit]) => [
    name,
    typeof limit === 'string' ? windowOfText(`${option}.${name}`, limit) : limit,
  ]);
  return Object.fromEntries(parsed);
}

/** Like {@link parseLimits}, for limits that are known to be valid apart from their text. */
export const toParsedLimits = parseLimits as (limits: unknown) => ParsedLimits;
