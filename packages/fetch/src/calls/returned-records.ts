import { unknownLimitMessage } from '@rollgate/core/limits';
import { invalidNumber, invalidOption, isThenable, optionError } from '@rollgate/core/store';
import type { CallCost } from '../options/fetch-options.js';

/**
 * Returns a cost that a function of the user has returned, or nothing if it has returned nothing. It may have units that this API does
 * not report, because one function may serve several APIs.
 *
 * @throws TypeError, RangeError naming the invalid units.
 */
export function validateCost(name: string, cost: unknown): CallCost {
  const record = validateRecord(name, cost, 'a record of units such as `{ daily: 412 }`');
  for (const [unit, units] of Object.entries(record)) {
    if (units === undefined || (Number.isSafeInteger(units) && (units as number) >= 0)) continue;
    throw invalidNumber(`${name}().${unit}`, 'a safe integer from 0', units);
  }
  return record as CallCost;
}

/**
 * Returns keys of the user's limits that the option `key` has returned, or none if it has returned nothing.
 *
 * @throws TypeError if it is something else, or has another name than these.
 */
export function validateKeys(keys: unknown, names: readonly string[]): Readonly<Record<string, unknown>> {
  const record = validateRecord('key', keys, "a record of keys such as `{ daily: 'ann' }`");
  const unknown = Object.keys(record).find((one) => !names.includes(one));
  if (unknown !== undefined) throw optionError(unknownLimitMessage('key()', unknown, names));
  return record;
}

function validateRecord(name: string, record: unknown, expected: string): Readonly<Record<string, unknown>> {
  if (record === undefined) return {};
  if (typeof record !== 'object' || record === null || Array.isArray(record) || isThenable(record)) {
    throw invalidOption(`${name}()`, expected, record);
  }
  return record as Readonly<Record<string, unknown>>;
}
