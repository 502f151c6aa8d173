import type { AlgorithmName, LimitSpec, OptionsOf } from '../algorithms.js';

/** The expected result of an action. Times are milliseconds, exact to the microsecond. */
export interface VectorVerdict {
  /** Whether the limit allows the action. */
  readonly allowed: boolean;
  /** The free units afterward. */
  readonly remaining: number;
  /** Milliseconds until the same action would be allowed. */
  readonly retryAfterMs: number;
  /** Milliseconds until the full quota is free. */
  readonly resetMs: number;
  /** Milliseconds until `remaining` is higher. Absent for slots. */
  readonly nextUnitMs?: number | undefined;
  /** Milliseconds until the start of an allowed action. Absent if it starts at once. */
  readonly delayMs?: number;
  /** The reason of a rejection. Absent if it is `'limit'`. */
  readonly reason?: 'minDifference' | 'blocked';
  /** Present if the wait is an estimate. */
  readonly retryIsEstimate?: true;
  /** The units that are spent and reserved. Absent if the vector does not compare them. */
  readonly usage?: readonly [spent: number, reserved: number];
}

/** A check or a peek of this cost. */
export interface VectorAction<Name extends AlgorithmName = AlgorithmName> extends VectorVerdict {
  /** The time of the action in milliseconds. */
  readonly at: number;
  /** The units of the action. */
  readonly cost: number;
  /** Present for a peek, which records nothing. */
  readonly peek?: true;
  /** The settings of the limit for this step. Without them, those of the vector apply. */
  readonly options?: OptionsOf<Name>;
}

/** A charge of this many units. The verdict is that of a peek with cost 1 right after. */
export interface VectorCharge<Name extends AlgorithmName = AlgorithmName> extends VectorVerdict {
  /** The time of the charge in milliseconds. */
  readonly at: number;
  /** The units to record. */
  readonly charge: number;
  /** The settings of the limit for this step. Without them, those of the vector apply. */
  readonly options?: OptionsOf<Name>;
}

/**
 * A step at a clock time in milliseconds. `refund`, `release` and `settle` are the index of the step whose action they
 * refund, whose slots they free, or whose action they settle to `cost`.
 */
export type VectorStep<Name extends AlgorithmName = AlgorithmName> =
  | VectorAction<Name>
  | VectorCharge<Name>
  | {
      /** The time of the refund. */
      readonly at: number;
      /** The index of the step to refund. */
      readonly refund: number;
    }
  | {
      /** The time of the release. */
      readonly at: number;
      /** The index of the step whose slots are freed. */
      readonly release: number;
    }
  | {
      /** The time of the renewal. */
      readonly at: number;
      /** Renews all open leases. */
      readonly renew: true;
    }
  | {
      /** The time of the settlement. */
      readonly at: number;
      /** The index of the step to settle. */
      readonly settle: number;
      /** The units that the action really took. */
      readonly cost: number;
    }
  | {
      /** The time of the reset. */
      readonly at: number;
      /** Clears the key. */
      readonly reset: true;
    };

/** A history of one key under one limit, with the expected result of each step. */
export interface Vector<Name extends AlgorithmName = AlgorithmName> {
  /** What the history shows. */
  readonly title: string;
  /** The algorithm and its settings. */
  readonly limit: LimitSpec<Name>;
  /** The steps, in the order of their times. */
  readonly steps: readonly VectorStep<Name>[];
  /** Whether the history is only for stores whose leases end. In memory, they do not. */
  readonly leasesEnd?: true;
}
