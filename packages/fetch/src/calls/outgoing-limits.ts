import { block, type Limit } from '@rollgate/core';
import { getOrInsert } from '@rollgate/core/store';
import { reportedQuota } from '../outgoing/reported-quota.js';

/** What the names of the limits begin with that the user has not passed. */
export const PREFIX = 'fetch.';
/** Closed while no call of the bucket may start. */
export const BUCKET_BLOCK = `${PREFIX}bucket`;
/** Closed while no call of the route may start. */
export const ROUTE_BLOCK = `${PREFIX}route`;

/** How many named quotas of each unit are obeyed at most. */
export const MAX_NAMES = 4;

/** While only open calls are in the way, their responses come within milliseconds or seconds. */
const POLL_MS = '100ms';

export type LimitRecord = Readonly<Record<string, Limit>>;

/** The name of the limit for the quota of a unit: the one of the route, or the named one with this number from 1. */
export function limitName(unit: string, number = 0): string {
  return number === 0 ? `${PREFIX}${unit}` : `${PREFIX}${unit}.${number}`;
}

/** Creates the limits that decide on a call in one step. */
export class OutgoingLimits {
  /** The costs that free the slots of a call when it is closed, in the same step. */
  readonly freedSlots: Readonly<Record<string, 0>>;
  readonly #quota: Limit;
  /** By the numbers of named quotas. The limiter prepares each record once. */
  readonly #records = new Map<string, LimitRecord>();

  constructor(
    private readonly own: LimitRecord,
    readonly units: readonly string[],
    { lease, maxAge }: { lease: number; maxAge: number },
  ) {
    const slots = Object.keys(own).filter((name) => own[name]!.holdsSlots);
    this.freedSlots = Object.fromEntries(slots.map((name) => [name, 0]));
    this.#quota = reportedQuota({ lease: `${lease}ms`, maxAge: `${maxAge}ms`, retryAfter: POLL_MS });
  }

  /** Returns the limits for a call with so many named quotas of each unit. */
  withNames(counts: readonly number[]): LimitRecord {
    return getOrInsert(this.#records, counts.join(), () => {
      const quotas = this.units.flatMap((unit, index) => {
        const names = Array.from({ length: 1 + (counts[index] ?? 0) }, (_, number) => limitName(unit, number));
        return names.map((name) => [name, this.#quota] as const);
      });
      return { ...this.own, [BUCKET_BLOCK]: block(), [ROUTE_BLOCK]: block(), ...Object.fromEntries(quotas) };
    });
  }
}
