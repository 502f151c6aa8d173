import { tokenBucket } from '@rollgate/core';
import fc from 'fast-check';
import type { Vectors } from '../vector.js';
import { assertAtMost } from './admissions.js';
import { type Algorithm, DAY, type LongRun, type TokenFractions } from './algorithm.js';
import { withMinDifference } from './min-difference.js';
import { isTooFarAhead, MAX_AHEAD_MICROS, MS, noDelay, type Oracle, scaleOf } from './oracle.js';
import { minDifference, ms, quota } from './small-settings.js';

/** Durations in milliseconds. */
export interface TokenBucketSettings {
  readonly capacity: number;
  /** Tokens that refill in `every`. */
  readonly refill: number;
  readonly every: number;
  readonly minDifference?: number | undefined;
  readonly blockFor?: number | undefined;
}

/** When the bucket is full again: `whole` microseconds, and `part` of one in the units of the limit that recorded last. */
interface Bucket {
  readonly whole: bigint;
  readonly part: bigint;
  /** The microseconds of refilling that refunds have returned. */
  readonly refunded: bigint;
  /** The latest time of an action. */
  readonly newest: bigint;
  /** The scale of the largest limit whose tokens are still missing. */
  readonly scale: number;
}

interface Receipt {
  /** The time of the check. */
  readonly at: bigint;
  /** When the refilling of these tokens would begin without any refund. */
  readonly start: bigint;
  readonly cost: number;
}

const ceilDivided = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor;
const min = (one: bigint, other: bigint) => (one < other ? one : other);
const max = (one: bigint, other: bigint) => (one > other ? one : other);
const greatestDivisor = (one: bigint, other: bigint): bigint =>
  other === 0n ? one : greatestDivisor(other, one % other);

/**
 * Tokens refill one by one. A token takes `cycles / parts` microseconds, so every time is a whole number of parts.
 */
function tokenBucketOracle({ capacity, refill, every, minDifference }: TokenBucketSettings): Oracle {
  const divisor = greatestDivisor(BigInt(every * MS), BigInt(refill));
  const cycles = BigInt(every * MS) / divisor;
  const parts = BigInt(refill) / divisor;
  const fillTime = Number(ceilDivided(BigInt(capacity) * cycles, parts));
  const ownScale = scaleOf(fillTime);

  const fullAt = ({ whole, part }: Pick<Bucket, 'whole' | 'part'>) =>
    whole * parts + (part < parts ? part : parts - 1n);
  const split = (time: bigint) => {
    const part = ((time % parts) + parts) % parts; // Times may be negative.
    return { whole: (time - part) / parts, part };
  };
  /** The end of the last microsecond of refilling. */
  const refillEnd = (bucket: Bucket | undefined) =>
    bucket === undefined ? -Infinity : Number(bucket.whole) + (bucket.part > 0n ? 1 : 0);
  /** The refilling that is missing at `at`, in parts. */
  const missing = (bucket: Bucket | undefined, at: number) =>
    bucket === undefined ? 0n : max(0n, fullAt(bucket) - BigInt(at) * parts);

  const oracle: Oracle<Bucket | undefined, Receipt> = {
    quota: capacity,
    empty: undefined,
    isImplausible: (bucket, now) => bucket !== undefined && isTooFarAhead(Number(bucket.whole), now, bucket.scale),
    expires: refillEnd,
    allows: (bucket, at, cost) => missing(bucket, at) <= BigInt(capacity - cost) * cycles,
    free: (bucket, at) => capacity - Number(ceilDivided(missing(bucket, at), cycles)),
    delay: noDelay,
    record(bucket, now, cost) {
      const start = BigInt(now) * parts + missing(bucket, now);
      const { refunded = 0n, newest = BigInt(now), scale = 0 } = bucket ?? {};
      const recorded = { start: split(start).whole + refunded, at: BigInt(now), cost };
      const own = refillEnd(bucket) > now ? Math.max(scale, ownScale) : ownScale;
      const latest = BigInt(now + MAX_AHEAD_MICROS);
      const full = split(start + BigInt(cost) * cycles);
      const { whole, part } = full.whole > latest ? { whole: latest, part: 0n } : full;
      const ahead = Number(whole) - now;
      // An overdraft takes longer to refill than the limit's own scale allows.
      const scaled = ahead > fillTime ? Math.max(own, scaleOf(ahead)) : own;
      return [{ whole, part, refunded, newest: max(newest, BigInt(now)), scale: scaled }, recorded];
    },
    // The kept tokens refill before the others. Of the others, no more has refilled than came since, and no more than
    // their position among the debts allows. The bucket has refilled up to its newest action, even if the clock has
    // stepped back since.
    refund(bucket, { start, at, cost }, now, kept) {
      if (bucket === undefined) return undefined;
      const latest = max(BigInt(now), bucket.newest);
      const since = min(latest + bucket.refunded - start, latest - at);
      const refilled = max(0n, since - (BigInt(kept) * cycles) / parts);
      const returned = BigInt(cost - kept) * cycles - refilled * parts;
      if (returned <= 0n) return bucket;
      return {
        ...bucket,
        ...split(fullAt(bucket) - returned),
        refunded: bucket.refunded + ceilDivided(returned, parts),
      };
    },
    // No more than is missing now, or at its newest action if the clock has stepped back since.
    credit(bucket, now, units) {
      if (bucket === undefined) return undefined;
      const returned = min(BigInt(units) * cycles, missing(bucket, Math.max(now, Number(bucket.newest))));
      if (returned === 0n) return bucket;
      return {
        ...bucket,
        ...split(fullAt(bucket) - returned),
        refunded: bucket.refunded + ceilDivided(returned, parts),
      };
    },
  };
  return withMinDifference(oracle, fillTime, minDifference);
}

const refills: Record<TokenFractions, readonly number[]> = { 1: [1, 2, 4, 5], 3: [3, 6], 7: [7] };

function longRun(capacity: number, refill: number, every: number): LongRun<TokenBucketSettings> {
  const guaranteed = (elapsed: number) => capacity + Number((BigInt(elapsed) * BigInt(refill)) / BigInt(every * MS));
  return { options: { capacity, refill, every }, guaranteed, randomStepMs: every / refill };
}

const vectors: Vectors<TokenBucketSettings> = {
  'an empty key has a full bucket': [
    { capacity: 3, refill: 1, every: 1000 },
    [0, 'peek', 1, true, 3, 0, 0, 0],
    [0, 'peek', 3, true, 3, 0, 0, 0],
    [0, 'check', 3, true, 0, 0, 3000, 1000],
    [0, 'check', 1, false, 0, 1000, 3000, 1000],
  ],
  'a token is available when its time has passed, and not a microsecond before': [
    { capacity: 2, refill: 1, every: 1000 },
    [0, 'check', 2, true, 0, 0, 2000, 1000],
    [0, 'check', 1, false, 0, 1000, 2000, 1000],
    [999.999, 'check', 1, false, 0, 0.001, 1000.001, 0.001],
    [1000, 'check', 1, true, 0, 0, 2000, 1000],
    [1500, 'check', 1, false, 0, 500, 1500, 500],
    [1999.999, 'check', 1, false, 0, 0.001, 1000.001, 0.001],
    [2000, 'check', 1, true, 0, 0, 2000, 1000],
  ],
  'tokens refill one by one, not all at once': [
    { capacity: 10, refill: 10, every: 1000 },
    [0, 'check', 10, true, 0, 0, 1000, 100],
    [100, 'check', 1, true, 0, 0, 1000, 100],
    [150, 'check', 1, false, 0, 50, 950, 50],
    [200, 'check', 1, true, 0, 0, 1000, 100],
    [450, 'check', 3, false, 2, 50, 750, 50],
    [499.999, 'check', 3, false, 2, 0.001, 700.001, 0.001],
    [500, 'check', 3, true, 0, 0, 1000, 100],
  ],
  'the bucket never has more tokens than its capacity': [
    { capacity: 2, refill: 1, every: 100 },
    [0, 'check', 1, true, 1, 0, 100, 100],
    [10_000, 'check', 2, true, 0, 0, 200, 100],
    [10_000, 'check', 1, false, 0, 100, 200, 100],
    [10_100, 'check', 1, true, 0, 0, 200, 100],
  ],
  '3 tokens in 7 ms: times are exact thirds of a microsecond, waits whole ones': [
    { capacity: 3, refill: 3, every: 7 },
    [0, 'check', 3, true, 0, 0, 7, 2.334],
    [0, 'check', 1, false, 0, 2.334, 7, 2.334],
    [2.333, 'check', 1, false, 0, 0.001, 4.667, 0.001],
    [2.334, 'check', 1, true, 0, 0, 7, 2.333],
    [4.666, 'check', 1, false, 0, 0.001, 4.668, 0.001],
    [4.667, 'check', 1, true, 0, 0, 7, 2.333],
    [6.999, 'check', 1, false, 0, 0.001, 4.668, 0.001],
    [7, 'check', 1, true, 0, 0, 7, 2.334],
    [7, 'check', 3, false, 0, 7, 7, 2.334],
    [13.999, 'check', 3, false, 2, 0.001, 0.001, 0.001],
    [14, 'check', 3, true, 0, 0, 7, 2.334],
  ],
  '1000 tokens in 999 ms: a remainder is never lost': [
    { capacity: 1000, refill: 1000, every: 999 },
    [0, 'check', 1000, true, 0, 0, 999, 0.999],
    [0.998, 'check', 1, false, 0, 0.001, 998.002, 0.001],
    [0.999, 'check', 1, true, 0, 0, 999, 0.999],
    [499.499, 'check', 499, false, 498, 0.001, 500.5, 0.001],
    [499.5, 'check', 499, true, 0, 0, 999, 0.999],
    [998.999, 'check', 500, false, 499, 0.001, 499.501, 0.001],
    [999, 'check', 500, true, 0, 0, 999, 0.999],
  ],
  'a fractional rate keeps its remainder over an idle part of the bucket': [
    { capacity: 2, refill: 3, every: 7 },
    [1, 'check', 1, true, 1, 0, 2.334, 2.334],
    [2, 'check', 1, true, 0, 0, 3.667, 1.334],
    [3.333, 'check', 1, false, 0, 0.001, 2.334, 0.001],
    [3.334, 'check', 1, true, 0, 0, 4.666, 2.333],
    [5.666, 'check', 1, false, 0, 0.001, 2.334, 0.001],
    [5.667, 'check', 1, true, 0, 0, 4.667, 2.333],
  ],
  'a cost takes as many tokens, and waits for as many': [
    { capacity: 5, refill: 1, every: 100 },
    [0, 'check', 4, true, 1, 0, 400, 100],
    [0, 'check', 2, false, 1, 100, 400, 100],
    [99.999, 'check', 2, false, 1, 0.001, 300.001, 0.001],
    [100, 'check', 2, true, 0, 0, 500, 100],
    [599.999, 'check', 5, false, 4, 0.001, 0.001, 0.001],
    [600, 'check', 5, true, 0, 0, 500, 100],
  ],
  'a cost above the capacity is never allowed': [
    { capacity: 3, refill: 1, every: 1000 },
    [0, 'check', 4, false, 3, Infinity, 0, 0],
    [0, 'check', 1, true, 2, 0, 1000, 1000],
    [0, 'check', 3, false, 2, 1000, 1000, 1000],
    [0, 'check', 4, false, 2, Infinity, 1000, 1000],
    [1000, 'check', 3, true, 0, 0, 3000, 1000],
  ],
  'at a time before the last action, no token has refilled': [
    { capacity: 2, refill: 1, every: 1000 },
    [3000, 'check', 2, true, 0, 0, 2000, 1000],
    [2500, 'check', 1, false, 0, 1500, 2500, 1500],
    [3999.999, 'check', 1, false, 0, 0.001, 1000.001, 0.001],
    [4000, 'check', 1, true, 0, 0, 2000, 1000],
  ],
  'a bucket that is full later than twice the next power of two microseconds was written by a wrong clock': [
    { capacity: 2, refill: 1, every: 1000 },
    [5000, 'check', 1, true, 1, 0, 1000, 1000],
    [2000, 'peek', 1, false, 0, 3000, 4000, 3000],
    [1805.696, 'peek', 1, false, 0, 3194.304, 4194.304, 3194.304],
    [1805.695, 'peek', 2, true, 2, 0, 0, 0],
    [5000, 'check', 2, true, 0, 0, 2000, 1000],
  ],
  'a refund returns what has not refilled': [
    { capacity: 4, refill: 1, every: 1000 },
    [0, 'check', 3, true, 1, 0, 3000, 1000],
    [0, 'check', 1, true, 0, 0, 4000, 1000],
    [0, 'refund', 0],
    [0, 'peek', 3, true, 3, 0, 1000, 1000],
    [0, 'refund', 0],
    [0, 'peek', 4, false, 3, 1000, 1000, 1000],
    [0, 'check', 3, true, 0, 0, 4000, 1000],
    [500, 'refund', 1],
    [500, 'peek', 1, true, 1, 0, 3000, 1000],
  ],
  'a refund after everything has refilled has no effect': [
    { capacity: 2, refill: 1, every: 1000 },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [1000, 'check', 2, true, 0, 0, 2000, 1000],
    [1000, 'refund', 0],
    [1000, 'check', 1, false, 0, 1000, 2000, 1000],
    [2000, 'check', 1, true, 0, 0, 2000, 1000],
    [2500, 'refund', 4],
    [2500, 'peek', 1, true, 1, 0, 500, 500],
  ],
  'after a credit at a time before the last action, tokens taken earlier have refilled since they were taken': [
    { capacity: 10, refill: 1, every: 1000 },
    [10_000, 'check', 5, true, 5, 0, 5000, 1000],
    [10_000, 'check', 5, true, 0, 0, 10_000, 1000],
    [5000, 'credit', 10, true, 5, 0, 5000, 1000],
    [5000, 'check', 5, true, 0, 0, 10_000, 1000],
    [10_000, 'check', 5, true, 0, 0, 10_000, 1000],
    [13_000, 'refund', 1],
    [13_000, 'peek', 1, true, 5, 0, 5000, 1000],
  ],
  'a refund after a reset has no effect': [
    { capacity: 2, refill: 1, every: 1000 },
    [0, 'check', 1, true, 1, 0, 1000, 1000],
    [100, 'reset'],
    [100, 'check', 2, true, 0, 0, 2000, 1000],
    [200, 'refund', 0],
    [200, 'check', 1, false, 0, 900, 1900, 900],
  ],
  'a minimal difference rejects although tokens are available': [
    { capacity: 3, refill: 1, every: 50, minDifference: 100 },
    [0, 'check', 1, true, 2, 0, 50, 50],
    [50, 'check', 1, false, 3, 50, 0, 0, { reason: 'minDifference' }],
    [99.999, 'check', 1, false, 3, 0.001, 0, 0, { reason: 'minDifference' }],
    [100, 'check', 3, true, 0, 0, 150, 50],
    [150, 'check', 1, false, 1, 50, 100, 50, { reason: 'minDifference' }],
    [199.999, 'check', 1, false, 1, 0.001, 50.001, 0.001, { reason: 'minDifference' }],
    [200, 'check', 1, true, 1, 0, 100, 50],
  ],
  'a minimal difference may be longer than the bucket takes to fill': [
    { capacity: 2, refill: 1, every: 50, minDifference: 1000 },
    [0, 'check', 2, true, 0, 0, 100, 50],
    [100, 'check', 2, false, 2, 900, 0, 0, { reason: 'minDifference' }],
    [999.999, 'check', 1, false, 2, 0.001, 0, 0, { reason: 'minDifference' }],
    [1000, 'check', 1, true, 1, 0, 50, 50],
  ],
  'the actions of a limit without a minimal difference count for a limit with one': [
    { capacity: 9, refill: 1, every: 1000, minDifference: 300 },
    [0, 'check', 1, true, 8, 0, 1000, 1000],
    [100, 'check', 1, true, 7, 0, 1900, 900, { options: { capacity: 9, refill: 1, every: 1000 } }],
    [200, 'check', 1, false, 7, 200, 1800, 800, { reason: 'minDifference' }],
    [399.999, 'check', 1, false, 7, 0.001, 1600.001, 600.001, { reason: 'minDifference' }],
    [400, 'check', 1, true, 6, 0, 2600, 600],
  ],
  'the longest minimal difference is kept, whichever limit recorded last': [
    { capacity: 9, refill: 1, every: 100, minDifference: 1000 },
    [0, 'check', 1, true, 8, 0, 100, 100],
    [50, 'check', 1, true, 7, 0, 150, 50, { options: { capacity: 9, refill: 1, every: 100, minDifference: 10 } }],
    [500, 'check', 1, false, 9, 550, 0, 0, { reason: 'minDifference' }],
    [1049.999, 'check', 1, false, 9, 0.001, 0, 0, { reason: 'minDifference' }],
    [1050, 'check', 1, true, 8, 0, 100, 100],
  ],
  'an idle key has a full bucket again': [
    { capacity: 2, refill: 1, every: 1000 },
    [0, 'check', 2, true, 0, 0, 2000, 1000],
    [1999.999, 'peek', 1, true, 1, 0, 0.001, 0.001],
    [2000, 'peek', 2, true, 2, 0, 0, 0],
    [86_400_000, 'check', 2, true, 0, 0, 2000, 1000],
  ],
  'a limit with much smaller settings erases nothing': [
    { capacity: 2, refill: 1, every: 3_600_000 },
    [0, 'check', 2, true, 0, 0, 7_200_000, 3_600_000],
    [0, 'peek', 1, false, 0, 7_196_000, 7_200_000, 7_196_000, { options: { capacity: 5, refill: 1, every: 1000 } }],
    [0, 'check', 1, false, 0, 3_600_000, 7_200_000, 3_600_000],
  ],
  'immediate refunds, the newest first, return everything even if a token takes a fraction of a microsecond': [
    { capacity: 2, refill: 3, every: 10 },
    [0, 'check', 1, true, 1, 0, 3.334, 3.334],
    [0, 'check', 1, true, 0, 0, 6.667, 3.334],
    [0, 'refund', 1],
    [0, 'refund', 0],
    [0, 'peek', 2, true, 2, 0, 0, 0],
  ],
  'refunds after a clock step back do not bring a token a microsecond early': [
    { capacity: 2, refill: 1, every: 1 },
    [10, 'check', 1, true, 1, 0, 1, 1],
    [10.001, 'check', 1, true, 0, 0, 1.999, 0.999],
    [9.001, 'refund', 0],
    [10.001, 'check', 1, true, 0, 0, 2, 1],
    [10.001, 'refund', 1],
    [11, 'check', 2, false, 1, 0.001, 0.001, 0.001],
    [11.001, 'check', 2, true, 0, 0, 2, 1],
  ],
  'a check after another refund is refunded in full': [
    { capacity: 4, refill: 1, every: 1000 },
    [0, 'check', 1, true, 3, 0, 1000, 1000],
    [0, 'check', 1, true, 2, 0, 2000, 1000],
    [0, 'refund', 0],
    [0, 'check', 1, true, 2, 0, 2000, 1000],
    [1000, 'refund', 3],
    [1000, 'peek', 1, true, 4, 0, 0, 0],
  ],
  'a refund does not return tokens that another refund has already returned': [
    { capacity: 4, refill: 1, every: 1000 },
    [0, 'check', 1, true, 3, 0, 1000, 1000],
    [0, 'check', 1, true, 2, 0, 2000, 1000],
    [0, 'check', 1, true, 1, 0, 3000, 1000],
    [0, 'refund', 0],
    [1000, 'refund', 1],
    [1000, 'peek', 1, true, 3, 0, 1000, 1000],
  ],
  'a fraction of a token from a faster bucket counts as less than a microsecond': [
    { capacity: 10, refill: 3, every: 1 },
    [0, 'check', 8, true, 2, 0, 1.143, 0.143, { options: { capacity: 10, refill: 7, every: 1 } }],
    [0.81, 'peek', 1, true, 9, 0, 0.333, 0.333],
  ],
  'a settlement below the cost returns the tokens that would refill last': [
    { capacity: 10, refill: 1, every: 1000 },
    [0, 'check', 10, true, 0, 0, 10_000, 1000],
    [3000, 'settle', 0, 4],
    [3000, 'peek', 1, true, 9, 0, 1000, 1000],
    [4000, 'peek', 1, true, 10, 0, 0, 0],
  ],
  'an overdraft is a debt that the refill pays off': [
    { capacity: 2, refill: 1, every: 1000 },
    [0, 'charge', 5, false, 0, 4000, 5000, 4000],
    [3999.999, 'peek', 1, false, 0, 0.001, 1000.001, 0.001],
    [4000, 'check', 1, true, 0, 0, 2000, 1000],
    [4000, 'settle', 2, 3],
    [4000, 'peek', 1, false, 0, 3000, 4000, 3000],
  ],
  'a debt ends after 100 years': [
    { capacity: 1, refill: 1, every: 1000 },
    [0, 'charge', 9_007_199_254_740_991, false, 0, 3_155_760_000_000, 3_155_760_000_000, 3_155_760_000_000],
    [3_155_760_000_000, 'peek', 1, true, 1, 0, 0, 0],
  ],
  'a credit fills the bucket by so many of the tokens that are missing': [
    { capacity: 5, refill: 1, every: 1000 },
    [0, 'check', 5, true, 0, 0, 5000, 1000],
    [500, 'credit', 2, true, 2, 0, 2500, 500],
    [1000, 'peek', 1, true, 3, 0, 2000, 1000],
    [1500, 'credit', 9, true, 5, 0, 0, 0],
    [1500, 'check', 5, true, 0, 0, 5000, 1000],
    [1500, 'charge', 3, false, 0, 4000, 8000, 4000],
    [1500, 'credit', 3, false, 0, 1000, 5000, 1000],
  ],
  'after a clock step back, a credit gives back what was missing at the newest action': [
    { capacity: 5, refill: 1, every: 1000 },
    [2000, 'check', 5, true, 0, 0, 5000, 1000],
    [1000, 'credit', 9, true, 4, 0, 1000, 1000],
  ],
  'a rejection of a used-up limit closes the key, and no later one prolongs the block': [
    { capacity: 2, refill: 1, every: 500, blockFor: 5000 },
    [0, 'check', 2, true, 0, 0, 1000, 500],
    [100, 'peek', 1, false, 0, 400, 900, 400],
    [100, 'check', 1, false, 0, 5000, 5000, 5000, { reason: 'blocked' }],
    [200, 'check', 2, false, 0, 4900, 4900, 4900, { reason: 'blocked' }],
    [5099.999, 'peek', 1, false, 0, 0.001, 0.001, 0.001, { reason: 'blocked' }],
    [5100, 'check', 1, true, 1, 0, 500, 500],
  ],
  'too few tokens for a cost close the key, and a cost above the capacity does not': [
    { capacity: 2, refill: 1, every: 500, blockFor: 300 },
    [0, 'check', 1, true, 1, 0, 500, 500],
    [0, 'check', 3, false, 1, Infinity, 500, 500],
    [0, 'check', 2, false, 0, 500, 500, 300],
    [299.999, 'check', 1, false, 0, 0.001, 200.001, 0.001, { reason: 'blocked' }],
    [300, 'check', 1, true, 0, 0, 700, 200],
    [400, 'check', 1, false, 0, 300, 600, 300, { reason: 'blocked' }],
    [500, 'peek', 1, false, 0, 200, 500, 200, { reason: 'blocked' }],
    [700, 'check', 1, true, 0, 0, 800, 300],
  ],
  'without `enforce`, it counts what exceeds the quota, and then enforces with these counts': [
    { capacity: 2, refill: 1, every: 500, enforce: false },
    [0, 'check', 1, true, 1, 0, 500, 500],
    [100, 'check', 2, false, 0, 1400, 1400, 900],
    [200, 'peek', 1, false, 0, 800, 1300, 800],
    [300, 'check', 1, false, 0, 1200, 1700, 1200],
    [300, 'peek', 1, false, 0, 1200, 1700, 1200, { enforce: true }],
    [500, 'check', 3, false, 0, Infinity, 3000, 2500],
    [2500, 'check', 1, false, 0, 1000, 1500, 1000],
  ],
};

export const tokenBucketAlgorithm: Algorithm<TokenBucketSettings> = {
  create: tokenBucket,
  oracle: tokenBucketOracle,
  minute: (quota) => ({ capacity: quota, refill: 1, every: 60_000 }),
  small(fractions) {
    const every = ms.filter((length) => fractions === 1 || length % fractions !== 0);
    return fc.record({ capacity: quota, refill: fc.constantFrom(...refills[fractions]), every, minDifference });
  },
  large: (fractions) => [
    // A day and a millisecond is a multiple neither of 3 nor of 7.
    { capacity: 2, refill: fractions === 1 ? 2 : fractions, every: DAY + (fractions === 1 ? 0 : 1) },
    { capacity: 4, refill: fractions, every: DAY + (fractions === 1 ? 0 : 1), minDifference: DAY },
    { capacity: 1e6, refill: 1000 * fractions, every: 1 },
    { capacity: 1e15, refill: 1000 * fractions, every: 1 },
  ],
  tiny: [
    { capacity: 1, refill: 1, every: 2 },
    { capacity: 2, refill: 1, every: 1 },
    { capacity: 3, refill: 2, every: 2, minDifference: 1 },
    { capacity: 1, refill: 1, every: 1, minDifference: 3 },
  ],
  assertGuarantee({ capacity, refill, every }, admitted) {
    for (const [index, first] of admitted.entries()) {
      let units = 0;
      for (const { at, cost } of admitted.slice(index)) {
        units += cost;
        const refilled = (BigInt(at - first.at) * BigInt(refill)) / BigInt(every * MS);
        assertAtMost(capacity + Number(refilled), units, `in the ${at - first.at} µs from ${first.at} on`);
      }
    }
  },
  worstBursts: [
    {
      options: { capacity: 10, refill: 10, every: 1000 },
      counted: 'allowed',
      units: 19,
      formula: 'capacity + floor((W - 1 µs) * refill / every)',
      traffic: [
        { at: 0, cost: 1, times: 10 },
        { at: 999.999, cost: 1, times: 9 },
      ],
    },
  ],
  longRuns: [longRun(5, 1, 7), longRun(5, 3, 7), longRun(5, 1000, 999)],
  vectors,
};
