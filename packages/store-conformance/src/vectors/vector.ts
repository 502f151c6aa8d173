import type { AlgorithmName, LimitSpec, OptionsOf } from '../algorithms.js';

/** The expected result of an action. Times are milliseconds, exact to the microsecond. */
export interface VectorVerdict {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetMs: number;
  readonly delayMs: number;
  /** The reason of a rejection. Absent if it is `'limit'`. */
  readonly reason?: 'minDifference';
}

/** A check or a peek of this cost. */
export interface VectorAction<Name extends AlgorithmName = AlgorithmName> extends VectorVerdict {
  readonly at: number;
  readonly cost: number;
  readonly peek?: true;
  /** The settings of the limit for this step. Without them, those of the vector apply. */
  readonly options?: OptionsOf<Name>;
}

/** A charge of so many units. The verdict is that of a peek with cost 1 right after. */
export interface VectorCharge extends VectorVerdict {
  readonly at: number;
  readonly charge: number;
}

/**
 * A step at a clock time in milliseconds. `refund` is the index of the step whose action it refunds, and `settle` that of
 * the step whose action it settles to `cost`.
 */
export type VectorStep<Name extends AlgorithmName = AlgorithmName> =
  | VectorAction<Name>
  | VectorCharge
  | { readonly at: number; readonly refund: number }
  | { readonly at: number; readonly settle: number; readonly cost: number }
  | { readonly at: number; readonly reset: true };

/** A history of one key under one limit, with the expected result of each step. */
export interface Vector<Name extends AlgorithmName = AlgorithmName> {
  readonly title: string;
  readonly limit: LimitSpec<Name>;
  readonly steps: readonly VectorStep<Name>[];
}
