import type { Vector, VectorVerdict } from './vector.js';

const open: VectorVerdict = { allowed: true, remaining: Infinity, retryAfterMs: 0, resetMs: 0, nextUnitMs: 0 };

/** A rejection by a block that ends after so long. */
const blocked = (ms: number): VectorVerdict => {
  return { allowed: false, remaining: 0, retryAfterMs: ms, resetMs: ms, nextUnitMs: ms, reason: 'blocked' };
};

/** The limit of `block()`. */
const limit = { algorithm: 'block', options: { length: 0 } } as const;

/** What `block` of a limiter charges. */
const blockFor = (length: number | null) => ({ charge: 1, options: { length } });

export const blockVectors: readonly Vector<'block'>[] = [
  {
    title: 'an open key allows everything, and no check or charge closes it',
    limit,
    steps: [
      { at: 0, peek: true, cost: 1, ...open },
      { at: 0, cost: 1, ...open },
      { at: 0, cost: 1_000_000, ...open },
      { at: 0, charge: 1_000_000, ...open },
      { at: 0, settle: 1, cost: 9 },
      { at: 0, refund: 2 },
      { at: 0, cost: 1, ...open },
    ],
  },
  {
    title: 'a block ends to the microsecond, and rejections do not prolong it',
    limit,
    steps: [
      { at: 5, ...blockFor(3_600_000), ...blocked(3_600_000) },
      { at: 5, cost: 1, ...blocked(3_600_000) },
      { at: 6, cost: 7, ...blocked(3_599_999) },
      { at: 3_600_004.999, peek: true, cost: 1, ...blocked(0.001) },
      { at: 3_600_005, cost: 1, ...open },
      { at: 3_600_006, cost: 1, ...open },
    ],
  },
  {
    title: 'the block that ends last decides',
    limit,
    steps: [
      { at: 0, ...blockFor(1000), ...blocked(1000) },
      { at: 100, ...blockFor(500), ...blocked(900) },
      { at: 600, ...blockFor(500), ...blocked(500) },
      { at: 1099.999, cost: 1, ...blocked(0.001) },
      { at: 1100, cost: 1, ...open },
      { at: 1100, ...blockFor(1), ...blocked(1) },
    ],
  },
  {
    title: 'a block without an end lasts until a reset',
    limit,
    steps: [
      { at: 0, ...blockFor(null), ...blocked(Infinity) },
      { at: 1, ...blockFor(1000), ...blocked(Infinity) },
      { at: 3_155_760_000_000, cost: 1, ...blocked(Infinity) },
      { at: 3_155_760_000_000, reset: true },
      { at: 3_155_760_000_000, cost: 1, ...open },
      { at: 3_155_760_000_000, ...blockFor(1000), ...blocked(1000) },
    ],
  },
  {
    title: 'a block may last for 100 years',
    limit,
    steps: [
      { at: 0, ...blockFor(3_155_760_000_000), ...blocked(3_155_760_000_000) },
      { at: 3_155_759_999_999.999, cost: 1, ...blocked(0.001) },
      { at: 3_155_760_000_000, cost: 1, ...open },
    ],
  },
  {
    title: 'neither a charge, a refund nor a settlement changes a block',
    limit,
    steps: [
      { at: 0, cost: 1, ...open },
      { at: 0, ...blockFor(1000), ...blocked(1000) },
      { at: 1, charge: 5, ...blocked(999) },
      { at: 1, settle: 0, cost: 9 },
      { at: 1, cost: 1, ...blocked(999) },
    ],
  },
  {
    title: 'a refund of an action before a block leaves it',
    limit,
    steps: [
      { at: 0, cost: 1, ...open },
      { at: 0, ...blockFor(1000), ...blocked(1000) },
      { at: 1, refund: 0 },
      { at: 1, cost: 1, ...blocked(999) },
    ],
  },
  {
    title: 'a step back of the clock prolongs a block, up to twice the longest one',
    limit,
    steps: [
      { at: 5000, ...blockFor(1000), ...blocked(1000) },
      { at: 5500, ...blockFor(600), ...blocked(600) },
      { at: 4100, cost: 1, ...blocked(2000) },
      { at: 4099.999, cost: 1, ...open },
      { at: 5500, cost: 1, ...open },
    ],
  },
];
