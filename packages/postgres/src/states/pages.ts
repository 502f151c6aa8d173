/**
 * The numbers in one row. While other transactions run, PostgreSQL keeps all old versions of a row. As long as they fit into its
 * page of 8 kB, an update changes no index.
 */
export const PAGE_LENGTH = 32;

/** How many rows a state of this length has. */
export function pageCount(length: number): number {
  return Math.ceil(length / PAGE_LENGTH);
}

/** The numbers of one page of a state. */
export function pageOf(numbers: Float64Array, page: number): Float64Array {
  return numbers.subarray(page * PAGE_LENGTH, (page + 1) * PAGE_LENGTH);
}

/** Returns the pages of `after` that `before` does not have. The first page always changes, because it has the version. */
export function changedPages(before: Float64Array | undefined, after: Float64Array): number[] {
  const changed = [0];
  for (let page = 1; page < pageCount(after.length); page++) {
    if (before === undefined || !isEqual(pageOf(before, page), pageOf(after, page))) changed.push(page);
  }
  return changed;
}

function isEqual(one: Float64Array, other: Float64Array): boolean {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}

/** Writes numbers as the hexadecimal text of their bytes. */
export function toHex({ buffer, byteOffset, byteLength }: Float64Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex');
}

/** Reads what {@link toHex} wrote. Leaves out a part of a number at the end, which only a damaged state has. */
export function fromHex(hex: string): Float64Array {
  const numbers = new Float64Array(Math.floor(hex.length / 16));
  Buffer.from(numbers.buffer).write(hex, 'hex');
  return numbers;
}
