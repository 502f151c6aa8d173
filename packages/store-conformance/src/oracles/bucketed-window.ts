import { bucketBefore, usedWidth } from './bucket-widths.js';
import { withMinDifference } from './min-difference.js';
import { MS, noDelay, type Oracle } from './oracle.js';

/** Durations in milliseconds. */
export interface BucketedWindowSettings {
  readonly limit: number;
  readonly window: number;
  readonly buckets?: number | undefined;
  readonly minDifference?: number | undefined;
}

/** The end of each unit's bucket. Buckets are `width` microseconds wide and adjacent, from the epoch on. */
interface Units {
  readonly width: number;
  readonly ends: readonly number[];
}

/** A unit counts until the whole of its bucket has left the window. A time before the newest bucket counts as its start. */
export function bucketedWindowOracle({ limit, minDifference, ...settings }: BucketedWindowSettings): Oracle {
  const window = settings.window * MS;
  const ownWidth = Math.ceil(window / (settings.buckets ?? 60));
  const newestStart = ({ width, ends }: Units) => Math.max(...ends) - width;
  const endOf = (bucket: number, width: number) => (bucket + 1) * width;
  const clampToNewest = (units: Units, at: number) => Math.max(at, newestStart(units));
  const liveUnits = (units: Units, at: number) => units.ends.filter((end) => end > clampToNewest(units, at) - window);

  const oracle: Oracle<Units, { end: number; cost: number }> = {
    quota: limit,
    empty: { width: ownWidth, ends: [] },
    isImplausible: (units, now) => newestStart(units) - now > window,
    expires: ({ ends }) => Math.max(...ends) + window,
    allows: (units, at, cost) => liveUnits(units, at).length + cost <= limit,
    free: (units, at) => limit - liveUnits(units, at).length,
    delay: noDelay,
    record(units, now, cost) {
      const at = clampToNewest(units, now);
      // An expired unit stays expired, even if the bucket into which it would move has not expired.
      const left = liveUnits(units, now);
      const width = usedWidth(units.width, ownWidth, window, left.length > 0);
      const newest = Math.floor(at / width);
      const moved = left.map((end) => (units.width === width ? end : endOf(bucketBefore(end, width, newest), width)));
      const newestEnd = endOf(newest, width);
      const ends = [...moved, ...new Array<number>(cost).fill(newestEnd)];
      return [
        { width, ends },
        { end: newestEnd, cost },
      ];
    },
    refund({ width, ends }, { end, cost }, _, kept) {
      const left = [...ends];
      const own = endOf(bucketBefore(end, width), width);
      for (let unit = kept; unit < cost && left.includes(own); unit++) left.splice(left.indexOf(own), 1);
      return { width, ends: left };
    },
  };
  return withMinDifference(oracle, window, minDifference);
}
