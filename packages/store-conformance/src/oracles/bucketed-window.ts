import { bucketBefore, usedWidth } from './buckets.js';
import { withMinDifference } from './min-difference.js';
import { MS, noDelay, type Oracle } from './oracle.js';

/** Durations in milliseconds. */
export interface BucketedWindowNumbers {
  readonly limit: number;
  readonly window: number;
  readonly buckets?: number | undefined;
  readonly minDifference?: number | undefined;
}

/** For each unit the number of its bucket, buckets being `width` microseconds wide and counted from the epoch. */
interface Units {
  readonly width: number;
  readonly buckets: readonly number[];
}

/** A unit counts until the whole of its bucket has left the window. A moment before the newest bucket is its start. */
export function bucketedWindowOracle({ limit, minDifference, ...numbers }: BucketedWindowNumbers): Oracle {
  const window = numbers.window * MS;
  const ownWidth = Math.ceil(window / (numbers.buckets ?? 60));
  const newestStart = ({ width, buckets }: Units) => Math.max(...buckets) * width;
  const endOf = (bucket: number, width: number) => (bucket + 1) * width;
  const later = (units: Units, at: number) => Math.max(at, newestStart(units));
  const live = (units: Units, at: number) =>
    units.buckets.filter((bucket) => endOf(bucket, units.width) > later(units, at) - window);

  const oracle: Oracle<Units, { end: number; cost: number }> = {
    quota: limit,
    empty: { width: ownWidth, buckets: [] },
    isImplausible: (units, now) => newestStart(units) - now > window,
    expires: ({ width, buckets }) => endOf(Math.max(...buckets), width) + window,
    allows: (units, at, cost) => live(units, at).length + cost <= limit,
    free: (units, at) => limit - live(units, at).length,
    delay: noDelay,
    record(units, now, cost) {
      const at = later(units, now);
      const left = live(units, now); // A unit that is over stays so, also when the bucket it would be moved to is not.
      const width = usedWidth(units.width, ownWidth, window, left.length > 0);
      const newest = Math.floor(at / width);
      const moved = left.map((bucket) =>
        units.width === width ? bucket : bucketBefore(endOf(bucket, units.width), width, newest),
      );
      const buckets = [...moved, ...new Array<number>(cost).fill(newest)];
      return [
        { width, buckets },
        { end: endOf(newest, width), cost },
      ];
    },
    refund({ width, buckets }, { end, cost }) {
      const left = [...buckets];
      const bucket = bucketBefore(end, width);
      for (let unit = 0; unit < cost && left.includes(bucket); unit++) left.splice(left.indexOf(bucket), 1);
      return { width, buckets: left };
    },
  };
  return withMinDifference(oracle, window, minDifference);
}
