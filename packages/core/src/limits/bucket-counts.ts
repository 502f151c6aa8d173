/** More than this many would take longer to look through than they are worth. */
export const MAX_BUCKETS = 3600;

/**
 * Units by the bucket of time they fell in. Buckets of one width lie end to end on the clock, and are held from the oldest
 * that has units to the newest: what stays is a stretch of a circle that comes round as time goes on.
 *
 * Invariant: the first and the last count are above 0.
 */
export class BucketCounts {
  /** Microseconds; 0 until there is a bucket. */
  widthMicros = 0;
  /** Which bucket the first count is of, counted from the clock's zero. */
  #first = 0;
  #counts: number[] = [];
  /** Of all of them. */
  #units = 0;

  /** When the newest bucket with units began; `-Infinity` when there is none. */
  get newestStartMicros(): number {
    return this.#counts.length === 0 ? -Infinity : this.#endOf(this.#counts.length - 1) - this.widthMicros;
  }

  /** When it ends; `-Infinity` when there is none. */
  get newestEndMicros(): number {
    return this.#counts.length === 0 ? -Infinity : this.#endOf(this.#counts.length - 1);
  }

  /** The units of all buckets that end after `micros`. */
  unitsAfter(micros: number): number {
    let units = this.#units;
    for (let index = this.#firstAfter(micros) - 1; index >= 0; index--) units -= this.#counts[index]!;
    return units;
  }

  /** Of the buckets that end after `micros`, the end of the one that holds the `units`-th unit. There are that many. */
  endOfUnit(micros: number, units: number): number {
    let index = this.#firstAfter(micros);
    for (let left = units - this.#counts[index]!; left > 0; left -= this.#counts[index]!) index += 1;
    return this.#endOf(index);
  }

  /**
   * The width to go on with, of a limit that would have this one for its window: the finer one, for to go back and forth
   * between two would make what was counted younger each time.
   */
  widthFor(widthMicros: number, windowMicros: number): number {
    const finer = this.#units > 0 ? Math.min(this.widthMicros, widthMicros) : widthMicros;
    return windowMicros > finer * MAX_BUCKETS ? widthMicros : finer;
  }

  /** Adds to the bucket in which `micros` lies, not before the newest one; no more than all together can be told exactly. */
  add(micros: number, units: number): void {
    const bucket = Math.floor(micros / this.widthMicros);
    const added = Math.min(units, Number.MAX_SAFE_INTEGER - this.#units);
    if (added === 0) return;
    this.#units += added;
    if (this.#counts.length === 0) {
      this.#first = bucket;
      this.#counts = [added]; // Room for one: many keys never need more.
      return;
    }
    const index = bucket - this.#first;
    while (this.#counts.length <= index) this.#counts.push(0);
    this.#counts[index]! += added;
  }

  /** Takes up to so many units from the bucket in which the moment before `endMicros` lies. */
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

  /** Forgets the buckets that end at `micros` or before. */
  drop(micros: number): void {
    this.#dropBefore(this.#firstAfter(micros));
  }

  /**
   * Goes over to buckets of another width. What an old one holds goes where its end lies, so that nothing is forgotten too
   * early; but not beyond `latestMicros`, by which all has been counted.
   */
  resize(widthMicros: number, latestMicros: number): void {
    if (widthMicros === this.widthMicros) return;
    const old = this.#counts.map((units, index) => [this.#endOf(index) - 1, units] as const);
    this.widthMicros = widthMicros;
    this.#counts = [];
    this.#units = 0;
    for (const [micros, units] of old) if (units > 0) this.add(Math.min(micros, latestMicros), units);
  }

  /** A copy for people and for tests: the end of each bucket in microseconds, and its units. */
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
