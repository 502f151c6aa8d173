import { MS, noDelay, type Oracle, sum } from './oracle.js';

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
export function concurrencyOracle({ limit, lease, retryAfter }: ConcurrencySettings, leasesEnd: boolean): Oracle {
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
