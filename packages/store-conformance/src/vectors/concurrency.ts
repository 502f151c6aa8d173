import type { Vector, VectorVerdict } from './vector.js';

/** An allowed action after which so many slots are free. */
const allowed = (remaining: number, limit: number): VectorVerdict => {
  return { allowed: true, remaining, retryAfterMs: 0, resetMs: remaining < limit ? 1000 : 0 };
};

/** A rejection that suggests to try again after a second. */
const rejected = (remaining: number): VectorVerdict => {
  return { allowed: false, remaining, retryAfterMs: 1000, resetMs: 1000, retryIsEstimate: true };
};

const options = { limit: 2, lease: 30_000, retryAfter: 1000 };

export const concurrencyVectors: readonly Vector<'concurrency'>[] = [
  {
    title: 'a slot is taken until it is released, once',
    limit: { algorithm: 'concurrency', options },
    steps: [
      { at: 0, peek: true, cost: 1, ...allowed(2, 2) },
      { at: 0, cost: 1, ...allowed(1, 2) },
      { at: 0, cost: 1, ...allowed(0, 2) },
      { at: 0, cost: 1, ...rejected(0) },
      { at: 1000, cost: 1, ...rejected(0) },
      { at: 1000, release: 1 },
      { at: 1000, release: 1 },
      { at: 1000, peek: true, cost: 2, ...rejected(1) },
      { at: 1000, cost: 1, ...allowed(0, 2) },
      { at: 1000, cost: 1, ...rejected(0) },
    ],
  },
  {
    title: 'an action takes as many slots as its cost, and never more than the limit',
    limit: { algorithm: 'concurrency', options: { ...options, limit: 3 } },
    steps: [
      { at: 0, cost: 2, ...allowed(1, 3) },
      { at: 0, cost: 2, ...rejected(1) },
      { at: 0, cost: 4, allowed: false, remaining: 1, retryAfterMs: Infinity, resetMs: 1000 },
      { at: 0, cost: 1, ...allowed(0, 3) },
      { at: 5, release: 0 },
      { at: 5, peek: true, cost: 1, ...allowed(2, 3) },
    ],
  },
  {
    title: 'a settlement frees slots, and neither it nor a charge takes any',
    limit: { algorithm: 'concurrency', options: { ...options, limit: 3 } },
    steps: [
      { at: 0, cost: 3, ...allowed(0, 3) },
      { at: 0, settle: 0, cost: 1 },
      { at: 0, cost: 1, ...allowed(1, 3) },
      { at: 0, settle: 2, cost: 9 },
      { at: 0, charge: 5, ...allowed(1, 3) },
      { at: 0, refund: 2 },
      { at: 0, peek: true, cost: 1, ...allowed(1, 3) },
      { at: 0, release: 2 },
      { at: 0, release: 0 },
      { at: 0, peek: true, cost: 1, ...allowed(3, 3) },
    ],
  },
  {
    title: 'a refund and a reset free slots, and a receipt from before a reset frees none',
    limit: { algorithm: 'concurrency', options },
    steps: [
      { at: 0, cost: 1, ...allowed(1, 2) },
      { at: 0, refund: 0 },
      { at: 0, cost: 2, ...allowed(0, 2) },
      { at: 0, reset: true },
      { at: 0, cost: 2, ...allowed(0, 2) },
      { at: 0, release: 2 },
      { at: 0, cost: 1, ...rejected(0) },
      { at: 0, release: 4 },
      { at: 0, peek: true, cost: 1, ...allowed(2, 2) },
    ],
  },
  {
    title: 'a smaller limit leaves slots taken',
    limit: { algorithm: 'concurrency', options },
    steps: [
      { at: 0, cost: 2, ...allowed(0, 2) },
      { at: 0, cost: 1, options: { ...options, limit: 1 }, ...rejected(0) },
      { at: 0, cost: 1, options: { ...options, limit: 3, retryAfter: 5 }, ...allowed(0, 3), resetMs: 5 },
      { at: 0, release: 0 },
      { at: 0, cost: 1, options: { ...options, limit: 1 }, ...rejected(0) },
    ],
  },
  {
    title: 'a lease that is not renewed ends to the microsecond',
    limit: { algorithm: 'concurrency', options },
    leasesEnd: true,
    steps: [
      { at: 0, cost: 1, ...allowed(1, 2) },
      { at: 10_000, cost: 1, ...allowed(0, 2) },
      { at: 29_999.999, cost: 1, ...rejected(0) },
      { at: 30_000, cost: 1, ...allowed(0, 2) },
      { at: 30_000, release: 0 },
      { at: 30_000, cost: 1, ...rejected(0) },
      { at: 39_999.999, cost: 1, ...rejected(0) },
      { at: 40_000, peek: true, cost: 1, ...allowed(1, 2) },
      { at: 60_000, peek: true, cost: 1, ...allowed(2, 2) },
    ],
  },
  {
    title: 'a renewal extends all open leases, and takes lost slots again if they are free',
    limit: { algorithm: 'concurrency', options },
    leasesEnd: true,
    steps: [
      { at: 0, cost: 1, ...allowed(1, 2) },
      { at: 20_000, renew: true },
      { at: 49_999.999, peek: true, cost: 1, ...allowed(1, 2) },
      { at: 50_000, peek: true, cost: 1, ...allowed(2, 2) },
      { at: 50_000, renew: true },
      { at: 50_000, peek: true, cost: 1, ...allowed(1, 2) },
      { at: 50_000, reset: true },
      { at: 50_000, cost: 2, ...allowed(0, 2) },
      { at: 60_000, renew: true },
      { at: 60_000, release: 7 },
      { at: 60_000, peek: true, cost: 1, ...allowed(2, 2) },
    ],
  },
  {
    title: 'a clock that steps back admits nothing, unless a lease is more than two leases ahead',
    limit: { algorithm: 'concurrency', options: { ...options, limit: 1 } },
    leasesEnd: true,
    steps: [
      { at: 90_000, cost: 1, ...allowed(0, 1) },
      { at: 60_000, cost: 1, ...rejected(0) },
      { at: 59_999.999, cost: 1, ...allowed(0, 1) },
    ],
  },
  {
    title: 'only open leases show how far the clock has stepped back',
    limit: { algorithm: 'concurrency', options },
    leasesEnd: true,
    steps: [
      { at: 100_000, cost: 1, ...allowed(1, 2) },
      { at: 120_000, cost: 1, ...allowed(0, 2) },
      { at: 120_000, release: 1 },
      { at: 89_000, peek: true, cost: 1, ...allowed(1, 2) },
    ],
  },
];
