import type { Limit } from '../limits/limit.js';

/** A receipt of a store that supports `report`. Its settlement needs limits that know the numbers of the response. */
export interface LimitedReceipt {
  /** Returns a receipt of the same check. Its settlement uses these limits instead of those that have the same names. */
  withLimits(limits: Readonly<Record<string, Limit>>): unknown;
  /** Returns a receipt for what the check recorded in the limits of these names, of which there is at least one. */
  only(names: readonly string[]): unknown;
}
