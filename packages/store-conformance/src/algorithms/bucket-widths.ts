/** The most buckets in a window. The finer width is kept only up to this number. */
const MAX_BUCKETS = 3600;

/**
 * The width of the buckets after a record. If old buckets still hold units, it is the finer of their width and the
 * limit's width.
 */
export function usedWidth(before: number, own: number, window: number, hasUnits: boolean): number {
  const finer = Math.min(before, own);
  return hasUnits && Math.ceil(window / finer) <= MAX_BUCKETS ? finer : own;
}

/** The number of the bucket of this width that contains the last microsecond before `end`, but at most `newest`. */
export const bucketBefore = (end: number, width: number, newest = Infinity): number =>
  Math.min(Math.floor((end - 1) / width), newest);
