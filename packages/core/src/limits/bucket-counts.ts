/** More buckets would take too long to sum up. */
export const MAX_BUCKETS = 3600;

/**
 * Units per time bucket. Buckets have one width and follow each other on the clock. The array holds the counts from the
 * oldest bucket with units to the newest, which is a section of a ring.
 *
 * Invariant: the first and the last count are positive.
 */
export class BucketCounts {
  /** The length of a bucket in microseconds, or 0 before the first one. */
  widthMicros = 0;
  /** The number of the first bucket, counted from time 0. */
  #first = 0;
  #counts: number[] = [];
  /** The sum of all counts. */
  #units = 0;

  /** The start of the newest bucket with units, or `-Infinity` without one. */
  get newestStartMicros(): number {
    return this.#counts.length === 0 ? -Infinity : this.#endOf(this.#counts.length - 1) - this.widthMicros;
  }

  /** The end of the newest bucket with units, or `-Infinity` without one. */
  get newestEndMicros(): number {
    return this.#counts.length === 0 ? -Infinity : this.#endOf(this.#counts.length - 1);
  }

  /** The units of all buckets that end after `micros`. */
  unitsAfter(micros: number): number {
    let units = this.#units;
    for (let index = this.#firstAfter(micros) - 1; index >= 0; index--) units -= this.#counts[index]!;
    return units;
  }

  /**
   * The end of the bucket with the `units`-th unit, among the buckets that end after `micros`. They have that many
   * units.
   */
  endOfUnit(micros: number, units: number): number {
    let index = this.#firstAfter(micros);
    for (let left = units - this.#counts[index]!; left > 0; left -= this.#counts[index]!) index += 1;
    return this.#endOf(index);
  }

  /**
   * Returns the width to use for a limit with these settings: the finer of the two widths. With the coarser one, each
   * change back and forth would make the counted units younger.
   */
  widthFor(widthMicros: number, windowMicros: number): number {
    const finer = this.#units > 0 ? Math.min(this.widthMicros, widthMicros) : widthMicros;
    return windowMicros > finer * MAX_BUCKETS ? widthMicros : finer;
  }

  /** Adds units to the bucket of `micros`, which is not before the newest one. Their sum stays a safe integer. */
  add(micros: number, units: number): void {
    const bucket = Math.floor(micros / this.widthMicros);
    const added = Math.min(units, Number.MAX_SAFE_INTEGER - this.#units);
    if (added === 0) return;
    this.#units += added;
    if (this.#counts.length === 0) {
      this.#first = bucket;
      this.#counts = [added]; // An array literal has room for one. Many keys never need more.
      return;
    }
    const index = bucket - this.#first;
    while (this.#counts.length <= index) this.#counts.push(0);
    this.#counts[index]! += added;
  }

  /** Removes up to `units` units from the bucket that contains the microsecond before `endMicros`. */
  take(endMicros: number, units: number): void {
    const index = Math.floor((endMicros - 1) / this.widthMicros) - this.#first;
    const held = this.#counts[index];
    if (held === undefined) return;
    const taken = Math.min(held, units);
    this.#counts[index] = held - taken;
    this.#units -= taken;
    while (this.#counts.at(-1) === 0) this.#counts.pop();
    this.#dropBefore(0);
  }

  /** Drops the buckets that end at `micros` or before. */
  drop(micros: number): void {
    this.#dropBefore(this.#firstAfter(micros));
  }

  /**
   * Changes the width of the buckets. The units of an old bucket move to the bucket of its end, so that none expires
   * too early, but not beyond `latestMicros`.
   */
  resize(widthMicros: number, latestMicros: number): void {
    if (widthMicros === this.widthMicros) return;
    const old = this.#counts.map((units, index) => [this.#endOf(index) - 1, units] as const);
    this.widthMicros = widthMicros;
    this.#counts = [];
    this.#units = 0;
    for (const [micros, units] of old) if (units > 0) this.add(Math.min(micros, latestMicros), units);
  }

  /** Returns a copy for debugging and tests: the end of each bucket in microseconds, and its units. */
  toJSON(): [endMicros: number, units: number][] {
    return this.#counts.map((units, index) => [this.#endOf(index), units]);
  }

  #endOf(index: number): number {
    return (this.#first + index + 1) * this.widthMicros;
  }

  /** The index of the first bucket that ends after `micros`. */
  #firstAfter(micros: number): number {
    if (this.#counts.length === 0 || this.#endOf(0) > micros) return 0;
    return Math.min(this.#counts.length, Math.floor(micros / this.widthMicros) - this.#first);
  }

  #dropBefore(index: number): void {
    let count = index;
    while (this.#counts[count] === 0) count += 1;
    if (count === 0) return;
    for (const units of this.#counts.splice(0, count)) this.#units -= units;
    this.#first += count;
  }
}
