/** More buckets than this in a window are not kept for the sake of finer ones. */
const MAX_BUCKETS = 3600;

/**
 * The width of the buckets from a record on: while something is left of those there were, the finer of theirs and of the
 * limit's own stays.
 */
export function usedWidth(before: number, own: number, window: number, isLeft: boolean): number {
  const finer = Math.min(before, own);
  return isLeft && Math.ceil(window / finer) <= MAX_BUCKETS ? finer : own;
}

/** The bucket, of buckets of this width, that holds the last microsecond before `end`; `newest` is the last there is. */
export const bucketBefore = (end: number, width: number, newest = Infinity): number =>
  Math.min(Math.floor((end - 1) / width), newest);
