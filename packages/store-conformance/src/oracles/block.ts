import { MS, noDelay, type Oracle } from './oracle.js';

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
  };
  return oracle as Oracle;
}
