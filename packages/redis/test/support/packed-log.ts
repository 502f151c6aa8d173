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

/** A hit of a packed log. */
export interface PackedHit {
  readonly timeMicros: number;
  readonly cost: number;
}

/** Reads the hits of a packed log with their costs, less what was refunded of them, independently of the scripts. */
export function readPackedHits(text: Buffer): PackedHit[] {
  const { times, droppedHits } = readPackedLog(text);
  if (text.length === 0 || (text.at(-1)! & HAS_TOTALS) === 0)
    return times.map((timeMicros) => ({ timeMicros, cost: 1 }));
  const totalsEnd = text.length - END_SIZE - ((text.at(-1)! & HAS_MIN_DIFFERENCE) === 0 ? 0 : 7);
  const plainCount = text.readUInt32BE(totalsEnd - 13);
  const gapsSize = text.readUInt16BE(totalsEnd - 2);
  const gapsText = text.toString('latin1', totalsEnd - 13 - gapsSize, totalsEnd - 13);
  const gaps = [...gapsText.matchAll(/(\d+),(\d+)/g)].map(([, from, units]) => [Number(from), Number(units)] as const);
  let before = readInt56(text, totalsEnd - 9);
  return times.map((timeMicros, index) => {
    const place = droppedHits + index;
    const total = place < plainCount ? before + 1 : readTotal(text, place, plainCount, gaps);
    const cost = total - before;
    before = total;
    return { timeMicros, cost };
  });
}

/** The units of all hits up to this one. A gap counts for the totals from its position on. */
function readTotal(
  text: Buffer,
  place: number,
  plainCount: number,
  gaps: readonly (readonly [number, number])[],
): number {
  const total = readInt56(text, 14 * place - 7 * plainCount + 7);
  return gaps.reduce((left, [from, units]) => (from <= total ? left - units : left), total);
}

function readInt56(bytes: Buffer, offset: number): number {
  return bytes.readInt32BE(offset) * 2 ** 24 + bytes.readUIntBE(offset + 4, 3);
}
