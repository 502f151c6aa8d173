import { invalidNumber, invalidOption } from '@rollgate/core/store';
import type { CallCost } from './fetch-options.js';

/**
 * Returns a cost that a function of the user has returned, or nothing if it has returned nothing.
 *
 * @throws TypeError, RangeError naming the invalid units.
 */
export function validateCost(name: string, cost: unknown): CallCost {
  if (cost === undefined) return {};
  if (typeof cost !== 'object' || cost === null) {
    throw invalidOption(`${name}()`, 'a record of units such as `{ daily: 412 }`', cost);
  }
  const invalid = Object.entries(cost).find(
    ([, units]) => units !== undefined && !(Number.isSafeInteger(units) && units >= 0),
  );
  if (invalid === undefined) return cost as CallCost;
  throw invalidNumber(`${name}().${invalid[0]}`, 'a safe integer from 0', invalid[1]);
}
