import assert from 'node:assert/strict';
import { type Block, block } from '@rollgate/core';
import fc from 'fast-check';
import type { Vectors } from '../vector.js';
import { type Algorithm, DAY, LONG_RUN, windowsIn } from './algorithm.js';
import { MS, noDelay, type Oracle } from './oracle.js';
import { ms } from './small-settings.js';

/**
 * A limit that closes its key each time it records. A limit of `block()` has the length 0, and its limiter's `block` charges
 * the same limit with another length.
 */
export interface BlockSettings {
  /** Milliseconds, or `null` for a block without an end, because JSON has no `Infinity`. */
  readonly length: number | null;
}

/** What closes the key, oldest first. */
type Blocks = readonly { readonly end: number; readonly length: number }[];

const latestOf = (blocks: Blocks) => Math.max(-Infinity, ...blocks.map(({ end }) => end));

/** Closed until the last block of the key has ended. */
export function blockOracle({ length }: BlockSettings): Oracle {
  const micros = length === null ? Infinity : length * MS;
  const oracle: Oracle<Blocks, undefined> = {
    quota: Infinity,
    reason: 'blocked',
    testsOnly: micros === 0,
    empty: [],
    isImplausible(blocks, now) {
      const longest = Math.max(0, ...blocks.map((one) => one.length));
      return latestOf(blocks) < Infinity && latestOf(blocks) - now > 2 * longest;
    },
    expires: latestOf,
    allows: (blocks, at) => at >= latestOf(blocks),
    free: (blocks, at) => (at >= latestOf(blocks) ? Infinity : 0),
    delay: noDelay,
    record: (blocks, now) => [[...blocks, { end: now + micros, length: micros }], undefined],
    refund: (blocks) => blocks,
    boundaries: (blocks) => blocks.map(({ end }) => end),
  };
  return oracle as Oracle;
}

/** Creates the limit of `block()`, or the one whose record closes a key for this long. */
function createBlock({ length }: BlockSettings): Block {
  return length === 0 ? block() : block().lasting(length ?? Infinity);
}

const vectors: Vectors<BlockSettings> = {
  'an open key allows everything, and no check or charge closes it': [
    { length: 0 },
    [0, 'peek', 1, true, Infinity, 0, 0, 0],
    [0, 'check', 1, true, Infinity, 0, 0, 0],
    [0, 'check', 1_000_000, true, Infinity, 0, 0, 0],
    [0, 'charge', 1_000_000, true, Infinity, 0, 0, 0],
    [0, 'settle', 1, 9],
    [0, 'refund', 2],
    [0, 'check', 1, true, Infinity, 0, 0, 0],
  ],
  'a block ends to the microsecond, and rejections do not prolong it': [
    { length: 0 },
    [5, 'charge', 1, false, 0, 3_600_000, 3_600_000, 3_600_000, { reason: 'blocked', options: { length: 3_600_000 } }],
    [5, 'check', 1, false, 0, 3_600_000, 3_600_000, 3_600_000, { reason: 'blocked' }],
    [6, 'check', 7, false, 0, 3_599_999, 3_599_999, 3_599_999, { reason: 'blocked' }],
    [3_600_004.999, 'peek', 1, false, 0, 0.001, 0.001, 0.001, { reason: 'blocked' }],
    [3_600_005, 'check', 1, true, Infinity, 0, 0, 0],
    [3_600_006, 'check', 1, true, Infinity, 0, 0, 0],
  ],
  'the block that ends last decides': [
    { length: 0 },
    [0, 'charge', 1, false, 0, 1000, 1000, 1000, { reason: 'blocked', options: { length: 1000 } }],
    [100, 'charge', 1, false, 0, 900, 900, 900, { reason: 'blocked', options: { length: 500 } }],
    [600, 'charge', 1, false, 0, 500, 500, 500, { reason: 'blocked', options: { length: 500 } }],
    [1099.999, 'check', 1, false, 0, 0.001, 0.001, 0.001, { reason: 'blocked' }],
    [1100, 'check', 1, true, Infinity, 0, 0, 0],
    [1100, 'charge', 1, false, 0, 1, 1, 1, { reason: 'blocked', options: { length: 1 } }],
  ],
  'a block without an end lasts until a reset': [
    { length: 0 },
    [0, 'charge', 1, false, 0, Infinity, Infinity, Infinity, { reason: 'blocked', options: { length: null } }],
    [1, 'charge', 1, false, 0, Infinity, Infinity, Infinity, { reason: 'blocked', options: { length: 1000 } }],
    [3_155_760_000_000, 'check', 1, false, 0, Infinity, Infinity, Infinity, { reason: 'blocked' }],
    [3_155_760_000_000, 'reset'],
    [3_155_760_000_000, 'check', 1, true, Infinity, 0, 0, 0],
    [3_155_760_000_000, 'charge', 1, false, 0, 1000, 1000, 1000, { reason: 'blocked', options: { length: 1000 } }],
  ],
  'a block may last for 100 years': [
    { length: 0 },
    [
      0,
      'charge',
      1,
      false,
      0,
      3_155_760_000_000,
      3_155_760_000_000,
      3_155_760_000_000,
      { reason: 'blocked', options: { length: 3_155_760_000_000 } },
    ],
    [3_155_759_999_999.999, 'check', 1, false, 0, 0.001, 0.001, 0.001, { reason: 'blocked' }],
    [3_155_760_000_000, 'check', 1, true, Infinity, 0, 0, 0],
  ],
  'neither a charge, a refund nor a settlement changes a block': [
    { length: 0 },
    [0, 'check', 1, true, Infinity, 0, 0, 0],
    [0, 'charge', 1, false, 0, 1000, 1000, 1000, { reason: 'blocked', options: { length: 1000 } }],
    [1, 'charge', 5, false, 0, 999, 999, 999, { reason: 'blocked' }],
    [1, 'settle', 0, 9],
    [1, 'check', 1, false, 0, 999, 999, 999, { reason: 'blocked' }],
  ],
  'a refund of an action before a block leaves it': [
    { length: 0 },
    [0, 'check', 1, true, Infinity, 0, 0, 0],
    [0, 'charge', 1, false, 0, 1000, 1000, 1000, { reason: 'blocked', options: { length: 1000 } }],
    [1, 'refund', 0],
    [1, 'check', 1, false, 0, 999, 999, 999, { reason: 'blocked' }],
  ],
  'a step back of the clock prolongs a block, up to twice the longest one': [
    { length: 0 },
    [5000, 'charge', 1, false, 0, 1000, 1000, 1000, { reason: 'blocked', options: { length: 1000 } }],
    [5500, 'charge', 1, false, 0, 600, 600, 600, { reason: 'blocked', options: { length: 600 } }],
    [4100, 'check', 1, false, 0, 2000, 2000, 2000, { reason: 'blocked' }],
    [4099.999, 'check', 1, true, Infinity, 0, 0, 0],
    [5500, 'check', 1, true, Infinity, 0, 0, 0],
  ],
};

export const blockAlgorithm: Algorithm<BlockSettings> = {
  create: createBlock,
  oracle: blockOracle,
  // A limiter's own limit has the length 0. The others are those that `block` charges.
  small: () => fc.record({ length: fc.oneof(fc.constant(0), ms, fc.constant(null)) }),
  large: () => [{ length: DAY }, { length: 365 * DAY }],
  tiny: [{ length: 0 }, { length: 2 }, { length: 3 }, { length: null }],
  // A limit that closes the key for a while allows one action in that time.
  assertGuarantee({ length }, admitted) {
    const times = admitted.map(({ at }) => at);
    const gap = Math.min(...times.slice(1).map((at, index) => at - times[index]!));
    assert.ok(gap >= (length ?? Infinity) * MS, `Closer to each other than a block: ${gap} µs`);
  },
  longRuns: [{ options: { length: LONG_RUN.window }, guaranteed: (elapsed) => windowsIn(elapsed) }],
  vectors,
};
