import type { Limit, Limits } from '@rollgate/core';

/** Returns the limits as a record. A single limit has the name `default`. */
export function limitsByName(limits: Limits): Readonly<Record<string, Limit>> {
  return 'test' in limits && typeof limits.test === 'function' ? { default: limits as Limit } : (limits as never);
}
