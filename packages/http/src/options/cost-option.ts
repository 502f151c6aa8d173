import type { Cost } from '@rollgate/core';
import { invalidOption, type ParsedLimits, validatePositiveInteger } from '@rollgate/core/store';
import { limitsByName } from '../limits/limits-by-name.js';

/**
 * Validates the option `cost` where it is a value. The limiter validates the costs of each request.
 *
 * @param limits The limits, if they are the same for every request.
 * @throws TypeError, RangeError with the invalid cost.
 */
export function validateCost(cost: unknown, limits: ParsedLimits | undefined): Cost {
  if (typeof cost !== 'object' || cost === null || Array.isArray(cost)) return validatePositiveInteger('cost', cost);
  const names = limits === undefined ? undefined : Object.keys(limitsByName(limits));
  for (const [name, units] of Object.entries(cost)) {
    if (names?.includes(name) === false) {
      throw invalidOption('cost', `a record with the names ${names.join(', ')}`, name);
    }
    if (units !== undefined && units !== 0) validatePositiveInteger(`cost.${name}`, units);
  }
  return cost as Cost;
}
