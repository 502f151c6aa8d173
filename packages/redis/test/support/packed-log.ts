const END_SIZE = 32;
const HAS_TOTALS = 1;
const HAS_MIN_DIFFERENCE = 2;

/** The contents of the string of a packed log, as `lua/hit-log-packed.lua` describes it. */
export interface PackedLog {
  /** The times of the hits that are kept, in microseconds, oldest first. */
  readonly times: readonly number[];
  /** The hits that were dropped but are still in the string. */
  readonly droppedHits: number;
}

/** Reads a packed log independently of the scripts. */
export function readPackedLog(text: Buffer): PackedLog {
  if (text.length === 0) return { times: [], droppedHits: 0 };
  const end = text.subarray(-END_SIZE);
  const [droppedHits, size] = [end.readUInt32BE(21), end.readUInt32BE(25)];
  const form = end.readUInt8(31);
  const hasTotals = (form & HAS_TOTALS) !== 0;
  const totalsEnd = text.length - END_SIZE - ((form & HAS_MIN_DIFFERENCE) === 0 ? 0 : 7);
  const plainCount = hasTotals ? text.readUInt32BE(totalsEnd - 13) : Infinity;
  const times = Array.from({ length: size }, (_, index) => {
    const position = droppedHits + index;
    return readInt56(text, 7 * position + 7 * Math.max(0, position - plainCount));
  });
  return { times, droppedHits };
}

/** The time of the hit that a command writes, from its last argument. */
export function newestTimeOf(written: Buffer): number {
  return readInt56(written, written.length - END_SIZE - 7);
}

function readInt56(bytes: Buffer, offset: number): number {
  return bytes.readInt32BE(offset) * 2 ** 24 + bytes.readUIntBE(offset + 4, 3);
}
