import type { Awaitable } from './awaitable.js';
import type { Decision } from './decision.js';
import type { Limit } from './limits/limit.js';

/** One limit of a check, by its name and the place where its keys live. */
export interface Rule {
  /** `default`, or the name the limit has in the record of limits. */
  readonly name: string;
  readonly limit: Limit;
  /** The limiter's prefix and the name: keys of two rules never meet unless both are equal. */
  readonly space: string;
}

/** The rules that a check decides together, at least one. */
export interface Plan {
  readonly prefix: string;
  readonly rules: readonly Rule[];
}

/** One key for all rules of a plan, or one for each, in the order of the rules. */
export type Keys = string | readonly string[];

/**
 * Where the state of keys is kept. A store holds no configuration (the limits come with every call) and owns the
 * time. It may answer at once or with a promise; the limiter passes on whichever it gets.
 *
 * What it throws at once is misuse, and goes to the caller; what it rejects with is a failure, which the limiter's policy
 * answers.
 *
 * Every method is atomic: a check tests all rules, then records in all of them or in none, but for rules with
 * `countRejected`, which record a refused attempt for themselves.
 */
export interface Store {
  /** Decides and records. */
  check(plan: Plan, keys: Keys, cost: number): Awaitable<Decision>;
  /** As `check`, recording nothing. */
  peek(plan: Plan, keys: Keys, cost: number): Awaitable<Decision>;
  /** Takes back what the check recorded whose decision was built with this receipt, as far as it is still there. */
  refund(receipt: unknown): Awaitable<void>;
  /** Forgets the keys. */
  reset(plan: Plan, keys: Keys): Awaitable<void>;
  /**
   * For a store whose parts fail apart, such as the nodes of a Cluster: the part that answers for these keys, as the
   * operator knows it. One part that is down is then no reason to do without the others.
   */
  partOf?(plan: Plan, keys: Keys): string;
  /** As `partOf`, for what a receipt recorded. */
  partOfReceipt?(receipt: unknown): string;
  /** Releases what the store holds open. */
  close?(): Awaitable<void>;
}

/** The key of the rule at `index`. */
export function keyAt(keys: Keys, index: number): string {
  return typeof keys === 'string' ? keys : (keys[index] as string);
}
