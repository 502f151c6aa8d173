import type { AlgorithmName, LimitSpec, OptionsOf } from '../algorithms.js';

/** What is told of an action; times in milliseconds, to the microsecond. */
export interface VectorVerdict {
  readonly allowed: boolean;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetMs: number;
  readonly delayMs: number;
  /** Of a rejection; absent when it is `'limit'`. */
  readonly reason?: 'minDifference';
}

/** An action of this cost, checked, or only asked about. */
export interface VectorAction<Name extends AlgorithmName = AlgorithmName> extends VectorVerdict {
  readonly at: number;
  readonly cost: number;
  readonly peek?: true;
  /** The numbers of the limit at this step alone; without them, the vector's own. */
  readonly options?: OptionsOf<Name>;
}

/** A step at a moment of the clock, in milliseconds. A refund gives back the action of the step with this index. */
export type VectorStep<Name extends AlgorithmName = AlgorithmName> =
  | VectorAction<Name>
  | { readonly at: number; readonly refund: number }
  | { readonly at: number; readonly reset: true };

/** A history of one key under one limit, and what is to be decided at each step. */
export interface Vector<Name extends AlgorithmName = AlgorithmName> {
  readonly title: string;
  readonly limit: LimitSpec<Name>;
  readonly steps: readonly VectorStep<Name>[];
}
