/**
 * The slots of a queue that were refunded while later ones are still taken. Adjacent slots form one gap. The array
 * holds the start and the end of each gap in microseconds, in ascending order.
 */
export type QueueGaps = number[];

/**
 * The most gaps of a key. The earliest is dropped first, because its slots pass first. In Redis, each operation reads
 * all gaps of a key, so more of them would delay other clients.
 */
export const MAX_GAPS = 64;

/** Adds the slot from `from` to `to`. Adding a slot again changes nothing. */
export function addGap(gaps: QueueGaps, from: number, to: number): void {
  const index = indexOfEnd(gaps, from);
  const touchesBefore = gaps[index + 1] === from;
  const after = touchesBefore ? index + 2 : index;
  const next = gaps[after];
  if (next !== undefined && next < to) return;
  if (touchesBefore && next === to) gaps.splice(index + 1, 2);
  else if (touchesBefore) gaps[index + 1] = to;
  else if (next === to) gaps[after] = from;
  else gaps.splice(index, 0, from, to);
  if (gaps.length > 2 * MAX_GAPS) gaps.splice(0, 2);
}

/** Removes the last gap if it ends at `to`, and returns where it begins. */
export function takeLastGap(gaps: QueueGaps, to: number): number | undefined {
  if (gaps.at(-1) !== to) return undefined;
  gaps.pop();
  return gaps.pop();
}

/** Drops the gaps that end at `nowMicros` or before, because no action can use their slots. */
export function dropPassedGaps(gaps: QueueGaps, nowMicros: number): void {
  const first = indexOfEnd(gaps, nowMicros + 1);
  if (first > 0) gaps.splice(0, first);
}

/** The index of the first gap that ends at `micros` or later. */
function indexOfEnd(gaps: QueueGaps, micros: number): number {
  let low = 0;
  let high = gaps.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (gaps[2 * middle + 1]! < micros) low = middle + 1;
    else high = middle;
  }
  return 2 * low;
}
