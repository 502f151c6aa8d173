import { isTooFarAhead, scaleOf } from './clock-skew-bound.js';
import { withMinDifference } from './min-difference.js';
import { MAX_AHEAD_MICROS, MS, noDelay, type Oracle } from './oracle.js';

/** Durations in milliseconds. */
export interface TokenBucketSettings {
  readonly capacity: number;
  /** Tokens that refill in `every`. */
  readonly refill: number;
  readonly every: number;
  readonly minDifference?: number | undefined;
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
export function tokenBucketOracle({ capacity, refill, every, minDifference }: TokenBucketSettings): Oracle {
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
  };
  return withMinDifference(oracle, fillTime, minDifference);
}
