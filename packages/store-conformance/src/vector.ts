import type { RejectionReason } from '@rollgate/core';

/** What else a step has or expects. */
export interface VectorDetails<Options = unknown> {
  /** The settings of the limit for this step. Without them, those of the vector apply. */
  readonly options?: Options;
  /** Milliseconds until the start of an allowed action. Absent if it starts at once. */
  readonly delayMs?: number;
  /** The reason of a rejection. Absent if it is `'limit'`. */
  readonly reason?: Exclude<RejectionReason, 'limit'>;
  /** Present if the wait is an estimate. */
  readonly retryIsEstimate?: true;
  /** Whether the limit rejects in this step. Without it, that of the vector applies. */
  readonly enforce?: boolean;
  /** The units that are spent and reserved. Absent if the vector does not compare them. */
  readonly usage?: readonly [spent: number, reserved: number];
  /** The quota of the period. Absent if it is that of the limit. */
  readonly limit?: number;
}

/**
 * The expected result of an action, or what it would be if the limit rejected. Times are milliseconds, exact to the microsecond: until the same action would be allowed, until the full
 * quota is free, and until more units are free, which is `null` for slots.
 */
export type VectorVerdict<Options = unknown> = readonly [
  allowed: boolean,
  remaining: number,
  retryAfterMs: number,
  resetMs: number,
  nextUnitMs: number | null,
  ...details: VectorDetails<Options>[],
];

/**
 * A step at a time in milliseconds. `of` is the index of the step whose action a refund, a release or a settlement is about. The verdict of a
 * charge or a credit is that of a peek with cost 1 right after. `extend` is a credit that adds to the period. A renewal is that of all open leases,
 * of which so many checks have lost theirs.
 */
export type VectorStep<Options = unknown> =
  | readonly [
      at: number,
      operation: 'check' | 'peek' | 'charge' | 'credit' | 'extend',
      cost: number,
      ...verdict: VectorVerdict<Options>,
    ]
  | readonly [at: number, operation: 'refund' | 'release', of: number]
  | readonly [at: number, operation: 'settle', of: number, cost: number]
  | readonly [at: number, operation: 'renew', lost: number]
  | readonly [at: number, operation: 'reset'];

/** The options of a limit. With `leasesEnd`, the history is for stores whose leases end, and with `enforce: false`, the limit rejects nothing. */
export type VectorOptions<Options> = Options & { readonly leasesEnd?: true; readonly enforce?: false | undefined };

/** Histories of one key by what they show: the options of the limit, and the steps. */
export type Vectors<Options> = Readonly<Record<string, readonly [VectorOptions<Options>, ...VectorStep<Options>[]]>>;
