import type { Limit } from './limits/limit.js';

/** One limit of a check, by its name and the place where its keys live. */
export interface Rule {
  /** `default`, or the name the limit has in the record of limits. */
  readonly name: string;
  readonly limit: Limit;
  /**
   * The limiter's prefix, the name and the algorithm: keys of two rules never meet unless all three are equal. So a limit
   * whose algorithm has changed starts afresh, whatever the one before it has recorded.
   */
  readonly namespace: string;
}

/** The rules that a check decides together, at least one. */
export interface Plan {
  readonly prefix: string;
  readonly rules: readonly Rule[];
}

/** One key for all rules of a plan, or one for each, in the order of the rules. */
export type Keys = string | readonly string[];

/** The key of the rule at `index`. */
export function keyAt(keys: Keys, index: number): string {
  return typeof keys === 'string' ? keys : (keys[index] as string);
}
