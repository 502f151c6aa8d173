import type { Limit } from '@rollgate/core';
import type fc from 'fast-check';
import type { Vectors } from '../vector.js';
import type { Admission } from './admissions.js';
import type { Oracle } from './oracle.js';

/**
 * The number of fractions into which the token buckets of a history divide a microsecond. All buckets of one history use the same
 * number, because a store may choose how one bucket reads the fractions of another.
 */
export type TokenFractions = 1 | 3 | 7;

/**
 * The lease of all slots of a history, in milliseconds. If leases of different lengths end at the same time, a store may
 * choose by which of them it detects a broken clock. So all leases of a history have one length.
 */
export const leases: Readonly<Record<TokenFractions, number>> = { 1: 6, 3: 9, 7: 3 };

/** Traffic that gets the most units in a window under a limit with these options. */
export interface Burst<Options> {
  readonly options: Options;
  readonly counted: 'allowed' | 'leaving';
  readonly units: number;
  readonly formula: string;
  readonly traffic: readonly {
    /** The time of the requests, in milliseconds. */
    readonly at: number;
    /** The cost of each. */
    readonly cost: number;
    /** How many arrive. */
    readonly times: number;
  }[];
}

/** The settings of a greedy caller's limit, and the units that it guarantees. */
export interface LongRun<Options> {
  readonly options: Options;
  /** The units allowed within `elapsed` microseconds after the first action, including the end. */
  readonly guaranteed: (elapsed: number, leasesEnd: boolean) => number;
  /**
   * The caller retries after a random time of up to this many milliseconds. Without it, it waits for `retryAfterMs`.
   */
  readonly randomStepMs?: number;
}

/** All that the suite knows of one algorithm. Its file is the only place of the suite that names it, apart from `algorithms.ts`. */
export interface Algorithm<Options> {
  /** Creates the limit. Durations in the options are milliseconds, or text with its unit. */
  readonly create: (options: Options) => Limit;
  /** @param leasesEnd Whether leases in the store end. */
  readonly oracle: (options: Options, leasesEnd: boolean) => Oracle;
  /** Options of a limit of this quota whose units stay used for at least a minute. Absent if the algorithm counts no units. */
  readonly minute?: (quota: number) => Options;
  /** Whether checks take leases, so that histories also release and renew them. */
  readonly hasLeases?: true;
  /** Whether allowed actions may start later. Such a queue allows one action more than its capacity. */
  readonly queues?: true;
  /** Random options of limits so small that they are full soon. */
  readonly small: (fractions: TokenFractions) => fc.Arbitrary<Options>;
  /** Options far from the small ones, up to the largest possible. `fractions` determines the refill of token buckets. */
  readonly large: (fractions: TokenFractions) => readonly Options[];
  /** Options so small that a few steps fill and empty a limit, and cross each of its boundaries. */
  readonly tiny: readonly Options[];
  /**
   * Throws if the limit has allowed more than its definition guarantees. It derives that without any state. Absent if the algorithm
   * guarantees nothing about actions that were not refunded.
   */
  readonly assertGuarantee?: (options: Options, admitted: readonly Admission[]) => void;
  /** The worst bursts of a limit of ten units per second. Absent if a window may contain any number of actions. */
  readonly worstBursts?: readonly Burst<Options>[];
  readonly longRuns: readonly LongRun<Options>[];
  /** Histories, and what is to be decided in them. */
  readonly vectors: Vectors<Options>;
}

export const DAY = 24 * 3600 * 1000;
export const MAX = Number.MAX_SAFE_INTEGER;

/** The limit and the window of long runs, in milliseconds. */
export const LONG_RUN = { limit: 10, window: 60 };

/** How many windows of this many milliseconds have started `elapsed` microseconds after the first one. */
export const windowsIn = (elapsed: number, lengthMs = LONG_RUN.window): number =>
  Math.floor(elapsed / (lengthMs * 1000)) + 1;
