import { block, type Limit } from '@rollgate/core';

/** What the names of the limits begin with that are not the user's. */
export const OWN_PREFIX = 'fetch.';
/** Closed while no call of the bucket may start. */
export const BUCKET_BLOCK = `${OWN_PREFIX}bucket`;
/** Closed while no call of the route may start. */
export const ROUTE_BLOCK = `${OWN_PREFIX}route`;

/** Returns the limits that decide on each call in one step. */
export function createOutgoingLimits(own: Readonly<Record<string, Limit>>): Readonly<Record<string, Limit>> {
  return { ...own, [BUCKET_BLOCK]: block(), [ROUTE_BLOCK]: block() };
}
