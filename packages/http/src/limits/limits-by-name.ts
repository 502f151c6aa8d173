import type { Limit } from '@rollgate/core';
import { isLimit, type ParsedLimits } from '@rollgate/core/store';

/** Returns the limits as a record. A single limit has the name `default`. */
export function limitsByName(limits: ParsedLimits): Readonly<Record<string, Limit>> {
  return isLimit(limits) ? { default: limits } : (limits as never);
}

/** Returns the entries of a record whose names `byName` has. Returns any other value as it is. */
export function pickNames<Value>(value: Value, byName: object): Value {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(byName, name))) as Value;
}
