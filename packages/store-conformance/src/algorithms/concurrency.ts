import { concurrency } from '@rollgate/core';
import fc from 'fast-check';
import type { Vectors } from '../vector.js';
import { assertInAnyWindow } from './admissions.js';
import { type Algorithm, DAY, LONG_RUN, leases, MAX, windowsIn } from './algorithm.js';
import { MS, noDelay, type Oracle, sum } from './oracle.js';
import { ms, quota } from './small-settings.js';

/** Durations in milliseconds. */
export interface ConcurrencySettings {
  readonly limit: number;
  readonly lease: number;
  readonly retryAfter: number;
}

interface Lease {
  /** The identity of the lease, by which a renewal or a release finds it. */
  readonly id: object;
  readonly units: number;
  readonly end: number;
  readonly length: number;
}

/**
 * Slots: at no time do more than `limit` units have one.
 *
 * @param leasesEnd Whether a lease ends unless it is renewed, as in a store that several processes share.
 */
function concurrencyOracle({ limit, lease, retryAfter }: ConcurrencySettings, leasesEnd: boolean): Oracle {
  const length = lease * MS;
  const endFrom = (now: number) => (leasesEnd ? now + length : Infinity);
  const free = (leases: readonly Lease[], at: number) =>
    limit - sum(leases.filter(({ end }) => end > at).map(({ units }) => units));
  const oracle: Oracle<readonly Lease[], object> = {
    quota: limit,
    retryAfterMicros: retryAfter * MS,
    empty: [],
    isImplausible(leases, now) {
      const last = leases.find(({ end }) => end === latestOf(leases));
      return last !== undefined && last.end < Infinity && last.end - now > 2 * last.length;
    },
    expires: latestOf,
    allows: (leases, at, cost) => cost <= free(leases, at),
    free,
    delay: noDelay,
    record(leases, now, units) {
      const id = {};
      return [[...leases.filter(({ end }) => end > now), { id, units, end: endFrom(now), length }], id];
    },
    refund: (leases, id, _, kept) =>
      leases.flatMap((one) => (one.id !== id ? [one] : kept > 0 ? [{ ...one, units: Math.min(one.units, kept) }] : [])),
    renew(leases, id, now, units) {
      const others = leases.filter((one) => one.id !== id);
      const isLive = leases.some((one) => one.id === id && one.end > now);
      return isLive || units <= free(others, now) ? [...others, { id, units, end: endFrom(now), length }] : undefined;
    },
    boundaries: (leases) => leases.map(({ end }) => end),
  };
  return oracle as Oracle;
}

const latestOf = (leases: readonly Lease[]) => Math.max(-Infinity, ...leases.map(({ end }) => end));

/** The settings of the vectors. */
const slots = (limit: number): ConcurrencySettings => ({ limit, lease: 30_000, retryAfter: 1000 });

const vectors: Vectors<ConcurrencySettings> = {
  'a slot is taken until it is released, once': [
    slots(2),
    [0, 'peek', 1, true, 2, 0, 0, null],
    [0, 'check', 1, true, 1, 0, 1000, null],
    [0, 'check', 1, true, 0, 0, 1000, null],
    [0, 'check', 1, false, 0, 1000, 1000, null, { retryIsEstimate: true }],
    [1000, 'check', 1, false, 0, 1000, 1000, null, { retryIsEstimate: true }],
    [1000, 'release', 1],
    [1000, 'release', 1],
    [1000, 'peek', 2, false, 1, 1000, 1000, null, { retryIsEstimate: true }],
    [1000, 'check', 1, true, 0, 0, 1000, null],
    [1000, 'check', 1, false, 0, 1000, 1000, null, { retryIsEstimate: true }],
  ],
  'an action takes as many slots as its cost, and never more than the limit': [
    slots(3),
    [0, 'check', 2, true, 1, 0, 1000, null],
    [0, 'check', 2, false, 1, 1000, 1000, null, { retryIsEstimate: true }],
    [0, 'check', 4, false, 1, Infinity, 1000, null],
    [0, 'check', 1, true, 0, 0, 1000, null],
    [5, 'release', 0],
    [5, 'peek', 1, true, 2, 0, 1000, null],
  ],
  'a settlement frees slots, and neither it nor a charge takes any': [
    slots(3),
    [0, 'check', 3, true, 0, 0, 1000, null],
    [0, 'settle', 0, 1],
    [0, 'check', 1, true, 1, 0, 1000, null],
    [0, 'settle', 2, 9],
    [0, 'charge', 5, true, 1, 0, 1000, null],
    [0, 'refund', 2],
    [0, 'peek', 1, true, 1, 0, 1000, null],
    [0, 'release', 2],
    [0, 'release', 0],
    [0, 'peek', 1, true, 3, 0, 0, null],
  ],
  'a settlement to several slots keeps as many': [
    slots(10),
    [0, 'check', 6, true, 4, 0, 1000, null],
    [0, 'check', 1, true, 3, 0, 1000, null],
    [0, 'settle', 0, 2],
    [0, 'peek', 8, false, 7, 1000, 1000, null, { retryIsEstimate: true }],
    [0, 'release', 0],
    [0, 'peek', 9, true, 9, 0, 1000, null],
  ],
  'a refund and a reset free slots, and a receipt from before a reset frees none': [
    slots(2),
    [0, 'check', 1, true, 1, 0, 1000, null],
    [0, 'refund', 0],
    [0, 'check', 2, true, 0, 0, 1000, null],
    [0, 'reset'],
    [0, 'check', 2, true, 0, 0, 1000, null],
    [0, 'release', 2],
    [0, 'check', 1, false, 0, 1000, 1000, null, { retryIsEstimate: true }],
    [0, 'release', 4],
    [0, 'peek', 1, true, 2, 0, 0, null],
  ],
  'a smaller limit leaves slots taken': [
    slots(2),
    [0, 'check', 2, true, 0, 0, 1000, null],
    [0, 'check', 1, false, 0, 1000, 1000, null, { retryIsEstimate: true, options: slots(1) }],
    [0, 'check', 1, true, 0, 0, 5, null, { options: { limit: 3, lease: 30_000, retryAfter: 5 } }],
    [0, 'release', 0],
    [0, 'check', 1, false, 0, 1000, 1000, null, { retryIsEstimate: true, options: slots(1) }],
  ],
  'a lease that is not renewed ends to the microsecond': [
    { ...slots(2), leasesEnd: true },
    [0, 'check', 1, true, 1, 0, 1000, null],
    [10_000, 'check', 1, true, 0, 0, 1000, null],
    [29_999.999, 'check', 1, false, 0, 1000, 1000, null, { retryIsEstimate: true }],
    [30_000, 'check', 1, true, 0, 0, 1000, null],
    [30_000, 'release', 0],
    [30_000, 'check', 1, false, 0, 1000, 1000, null, { retryIsEstimate: true }],
    [39_999.999, 'check', 1, false, 0, 1000, 1000, null, { retryIsEstimate: true }],
    [40_000, 'peek', 1, true, 1, 0, 1000, null],
    [60_000, 'peek', 1, true, 2, 0, 0, null],
  ],
  'a renewal extends all open leases, and takes lost slots again if they are free': [
    { ...slots(2), leasesEnd: true },
    [0, 'check', 1, true, 1, 0, 1000, null],
    [20_000, 'renew', 0],
    [49_999.999, 'peek', 1, true, 1, 0, 1000, null],
    [50_000, 'peek', 1, true, 2, 0, 0, null],
    [50_000, 'renew', 0],
    [50_000, 'peek', 1, true, 1, 0, 1000, null],
    [50_000, 'reset'],
    [50_000, 'check', 2, true, 0, 0, 1000, null],
    [60_000, 'renew', 1],
    [60_000, 'release', 7],
    [60_000, 'peek', 1, true, 2, 0, 0, null],
  ],
  'a clock that steps back admits nothing, unless a lease is more than two leases ahead': [
    { ...slots(1), leasesEnd: true },
    [90_000, 'check', 1, true, 0, 0, 1000, null],
    [60_000, 'check', 1, false, 0, 1000, 1000, null, { retryIsEstimate: true }],
    [59_999.999, 'check', 1, true, 0, 0, 1000, null],
  ],
  'only open leases show how far the clock has stepped back': [
    { ...slots(2), leasesEnd: true },
    [100_000, 'check', 1, true, 1, 0, 1000, null],
    [120_000, 'check', 1, true, 0, 0, 1000, null],
    [120_000, 'release', 1],
    [89_000, 'peek', 1, true, 1, 0, 1000, null],
  ],
};

export const concurrencyAlgorithm: Algorithm<ConcurrencySettings> = {
  create: concurrency,
  oracle: concurrencyOracle,
  hasLeases: true,
  minute: (quota) => ({ limit: quota, lease: 60_000, retryAfter: 1000 }),
  small: (fractions) => fc.record({ limit: quota, lease: fc.constant(leases[fractions]), retryAfter: ms }),
  large: (fractions) => [
    { limit: 2, lease: leases[fractions], retryAfter: DAY },
    { limit: 1e6, lease: leases[fractions], retryAfter: 7 },
    { limit: MAX, lease: leases[fractions], retryAfter: 1 },
  ],
  tiny: [
    { limit: 1, lease: 3, retryAfter: 1 },
    { limit: 2, lease: 3, retryAfter: 2 },
    { limit: 3, lease: 3, retryAfter: 1 },
  ],
  // A slot that was not released stays taken for at least one lease.
  assertGuarantee: ({ limit, lease }, admitted) => assertInAnyWindow({ limit, window: lease }, admitted),
  // A slot that is released at once can be taken again at once, so there is no worst burst. The caller of the long run releases nothing.
  longRuns: [
    {
      options: { limit: LONG_RUN.limit, lease: LONG_RUN.window, retryAfter: 7 },
      guaranteed: (elapsed, leasesEnd) => LONG_RUN.limit * (leasesEnd ? windowsIn(elapsed, 63) : 1),
    },
  ],
  vectors,
};
