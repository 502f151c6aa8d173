import { unknownLimitMessage } from '@rollgate/core/limits';
import { invalidNumber, invalidOption, isThenable, optionError } from '@rollgate/core/store';
import type { CallCost } from '../options/fetch-options.js';

/**
 * Returns a cost that a function of the user has returned, or nothing if it has returned nothing.
 *
 * @throws TypeError, RangeError naming the invalid units.
 */
export function validateCost(name: string, cost: unknown, names: readonly string[]): CallCost {
  const record = validateRecord(name, cost, 'a record of units such as `{ daily: 412 }`', names);
  for (const [unit, units] of Object.entries(record)) {
    if (units === undefined || (Number.isSafeInteger(units) && (units as number) >= 0)) continue;
    throw invalidNumber(`${name}().${unit}`, 'a safe integer from 0', units);
  }
  return record as CallCost;
}

/**
 * Returns a record that a function of the user has returned, or an empty one if it has returned nothing.
 *
 * @throws TypeError if it is something else, or has another name than these.
 */
export function validateRecord(
  name: string,
  record: unknown,
  expected: string,
  names: readonly string[],
): Readonly<Record<string, unknown>> {
  if (record === undefined) return {};
  if (typeof record !== 'object' || record === null || isThenable(record)) {
    throw invalidOption(`${name}()`, expected, record);
  }
  const unknown = Object.keys(record).find((one) => !names.includes(one));
  if (unknown !== undefined) throw optionError(unknownLimitMessage(`${name}()`, unknown, names));
  return record as Readonly<Record<string, unknown>>;
}
