import { withMinDifference } from './min-difference.js';
import { MS, noDelay, type Oracle } from './oracle.js';

/** Durations in milliseconds. */
export interface TokenBucketNumbers {
  readonly capacity: number;
  /** Tokens that come back in `every`. */
  readonly refill: number;
  readonly every: number;
  readonly minDifference?: number | undefined;
}

/** When the bucket is full again: `whole` microseconds and `part` of a whole, in the units of who recorded last. */
interface Bucket {
  readonly whole: bigint;
  readonly part: bigint;
  /** Microseconds of refilling that refunds have taken back. */
  readonly refunded: bigint;
}

interface Receipt {
  /** When the refilling of these tokens begins, as if nothing had been refunded. */
  readonly start: bigint;
  readonly cost: number;
}

const ceilDivided = (dividend: bigint, divisor: bigint) => (dividend + divisor - 1n) / divisor;
const greater = (one: bigint, other: bigint) => (one > other ? one : other);
const greatestDivisor = (one: bigint, other: bigint): bigint =>
  other === 0n ? one : greatestDivisor(other, one % other);

/** Tokens come back one by one; a token takes `cycles / parts` microseconds, so every time is a whole number of parts. */
export function tokenBucketOracle({ capacity, refill, every, minDifference }: TokenBucketNumbers): Oracle {
  const divisor = greatestDivisor(BigInt(every * MS), BigInt(refill));
  const cycles = BigInt(every * MS) / divisor;
  const parts = BigInt(refill) / divisor;
  const fillTime = ceilDivided(BigInt(capacity) * cycles, parts);

  const fullAt = ({ whole, part }: Bucket) => whole * parts + (part < parts ? part : parts - 1n);
  const split = (time: bigint, refunded: bigint): Bucket => {
    const part = ((time % parts) + parts) % parts; // Times may be negative.
    return { whole: (time - part) / parts, part, refunded };
  };
  /** What is missing at `at`, in parts of refilling. */
  const missing = (bucket: Bucket | undefined, at: number) =>
    bucket === undefined ? 0n : greater(0n, fullAt(bucket) - BigInt(at) * parts);

  const oracle: Oracle<Bucket | undefined, Receipt> = {
    quota: capacity,
    empty: undefined,
    isImplausible: (bucket, now) => bucket !== undefined && bucket.whole - BigInt(now) > 2n * fillTime,
    expires: (bucket) => (bucket === undefined ? -Infinity : Number(bucket.whole) + (bucket.part > 0n ? 1 : 0)),
    allows: (bucket, at, cost) => missing(bucket, at) <= BigInt(capacity - cost) * cycles,
    free: (bucket, at) => capacity - Number(ceilDivided(missing(bucket, at), cycles)),
    delay: noDelay,
    record(bucket, now, cost) {
      const start = BigInt(now) * parts + missing(bucket, now);
      const refunded = bucket?.refunded ?? 0n;
      return [split(start + BigInt(cost) * cycles, refunded), { start: split(start, 0n).whole + refunded, cost }];
    },
    refund(bucket, { start, cost }, now) {
      if (bucket === undefined) return undefined;
      const refilled = greater(0n, BigInt(now) + bucket.refunded - start);
      const back = BigInt(cost) * cycles - refilled * parts;
      return back <= 0n ? bucket : split(fullAt(bucket) - back, bucket.refunded + ceilDivided(back, parts));
    },
  };
  return withMinDifference(oracle, Number(fillTime), minDifference);
}
