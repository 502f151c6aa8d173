import { type Limit, rollingWindow } from '@rollgate/core';
import { isPlainWindow } from '@rollgate/core/store';
import { MIN_LEASE_MS, type ResolvedLeasingOptions } from './leasing-store-options.js';

/** What a limit's leases are like. */
export interface LeaseTerms {
  /** The quota of the limit. */
  readonly limit: number;
  /** How much longer than the window the store counts a unit. */
  readonly leaseMs: number;
  /** For how long after its request a process spends a lease. */
  readonly usableMs: number;
  /** The largest part of the free units that a lease takes. */
  readonly maxShare: number;
  readonly minDecisions: number;
  /** A lease has at least so many units, if they are free. */
  readonly leastGrant: number;
}

/** The default lease is this part of a window, so at most a 51st of the quota is lost to it. */
const LEASES_PER_WINDOW = 50;
const MAX_DEFAULT_LEASE_MS = 1000;
/** With fewer leases in a window, the longer window would cost more than a tenth of the quota. */
const MIN_LEASES_PER_WINDOW = 10;
/** A window is at most 100 years long. The window of the store must be, too. */
const MAX_WINDOW_MS = 50 * 365 * 24 * 60 * 60 * 1000;

/** The clock of a process may be read this much too early. */
const CLOCK_PRECISION_MS = 1;

/**
 * With less, a used-up limit would hand out one unit per request as its hits expire. A limit of a few units must not give all of them
 * to one process.
 */
const LEAST_GRANT = 16;
const LEAST_GRANTS_PER_LIMIT = 64;

/** Returns the terms of a limit's leases, or `undefined` if the limit cannot be leased. */
export function termsOf(limit: Limit, options: ResolvedLeasingOptions): LeaseTerms | undefined {
  // Only for these is a unit that counts longer never too little.
  if (!isPlainWindow(limit)) return undefined;
  const windowMs = limit.windowMicros / 1000;
  const leaseMs = options.leaseMs ?? Math.min(Math.floor(windowMs / LEASES_PER_WINDOW), MAX_DEFAULT_LEASE_MS);
  if (leaseMs < MIN_LEASE_MS || windowMs < MIN_LEASES_PER_WINDOW * leaseMs || windowMs > MAX_WINDOW_MS)
    return undefined;
  return {
    limit: limit.limit,
    leaseMs,
    usableMs: leaseMs * (1 - options.clockDrift) - CLOCK_PRECISION_MS,
    maxShare: options.maxShare,
    minDecisions: options.minDecisions,
    leastGrant: Math.max(1, Math.min(LEAST_GRANT, Math.floor(limit.limit / LEAST_GRANTS_PER_LIMIT))),
  };
}

/**
 * The limit in the store. A unit that a lease took at `t` counts until `t + window + lease` there. A process spends it before
 * `t + lease`, so it counts until a whole window has passed since.
 */
export function widen(limit: Limit, { leaseMs }: LeaseTerms): Limit {
  const window = `${limit.windowMicros / 1000 + leaseMs}ms` as const;
  return rollingWindow({ limit: limit.limit, window, enforce: limit.enforced !== false });
}

/** The units of a lease that checks will need, but only a part of what is free. */
export function sizeOfLease({ maxShare, leastGrant }: LeaseTerms, needed: number, free: number): number {
  return Math.min(Math.max(needed, leastGrant), Math.max(leastGrant, Math.floor(free * maxShare)));
}
