/**
 * The hits of one key, oldest first.
 *
 * Dropping hits only moves `#start`. Once there are more dropped than remaining hits, the array is cut. So adding and
 * dropping take O(1) on average, and memory stays proportional to the hits.
 *
 * Invariants: times never decrease, and `#totals` is absent while every hit costs 1. So the usual hit takes one number.
 */
export class HitLog {
  /** The times in microseconds. */
  #times: number[] = [];
  /** For each time, the units of all hits up to and including it, plus `#dropped`. */
  #totals: number[] | undefined;
  /** The oldest hit's index in both arrays. */
  #start = 0;
  /** The dropped units that the totals still include. */
  #dropped = 0;
  /** The longest `minDifference` of all limits that have recorded, in microseconds. Absent if none had one. */
  declare longestDifferenceMicros?: number;

  /** The number of hits. */
  get size(): number {
    return this.#times.length - this.#start;
  }

  /** The newest hit's time in microseconds, or `-Infinity` without one. */
  get newestMicros(): number {
    const { length } = this.#times;
    return length === this.#start ? -Infinity : (this.#times[length - 1] as number);
  }

  /** The time of the hit at `index`, which is below `size`. */
  timeOf(index: number): number {
    return this.#times[this.#start + index] as number;
  }

  /** The index of the first hit after `micros`, or `size` without one. O(log n), and O(1) near the oldest hit. */
  firstAfter(micros: number): number {
    return this.size === 0 || this.timeOf(0) > micros ? 0 : this.#searchAfter(micros);
  }

  /** The units of all hits from `index` on. */
  unitsFrom(index: number): number {
    const { size } = this;
    return this.#totals === undefined ? size - index : this.#totalBefore(size) - this.#totalBefore(index);
  }

  /**
   * The index of the hit with the `units`-th unit, counted from the hit at `from`. There are that many units. O(log n).
   */
  indexOfUnit(from: number, units: number): number {
    const total = this.#totalBefore(from) + units;
    if (this.#totals === undefined) return total - 1;
    return firstWhere(from - 1, this.size - 1, (index) => this.#totalBefore(index + 1) >= total);
  }

  /** Adds the newest hit. `micros` is not before the newest time. */
  append(micros: number, cost: number): void {
    if (cost !== 1 || this.#totals !== undefined) this.#appendTotal(cost);
    if (this.#times.length === 0)
      this.#times = [micros]; // An array literal has room for one. Most keys never need more.
    else this.#times.push(micros);
  }

  /** Drops the hits before `index`. */
  dropBefore(index: number): void {
    if (index > 0) this.#drop(index);
  }

  /** Drops all but the newest `units` units. A hit at the boundary keeps the newer part of its units. */
  keepNewest(units: number): void {
    const excess = this.unitsFrom(0) - units;
    if (excess <= 0) return;
    const total = this.#totalBefore(0) + excess;
    this.dropBefore(units === 0 ? this.size : this.indexOfUnit(0, excess + 1));
    if (this.#totals !== undefined) this.#dropped = total;
  }

  /** Removes up to `cost` of the units that were recorded at `micros`. O(hits recorded since). */
  remove(micros: number, cost: number): void {
    let left = cost;
    for (let index = this.firstAfter(micros) - 1; left > 0 && index >= 0 && this.timeOf(index) === micros; index--) {
      const units = this.#unitsOf(index);
      const taken = Math.min(left, units);
      this.#lowerTotals(index, taken);
      if (taken === units) {
        this.#times.splice(this.#start + index, 1);
        this.#totals?.splice(this.#start + index, 1);
      }
      left -= taken;
    }
  }

  /** Returns a copy for debugging and tests: the time in microseconds and the units of each hit. */
  toJSON(): [micros: number, units: number][] {
    return Array.from({ length: this.size }, (_, index) => [this.timeOf(index), this.#unitsOf(index)]);
  }

  /** Like {@link firstAfter}, when the oldest hit is not after `micros`. */
  #searchAfter(micros: number): number {
    const { size } = this;
    let step = 1;
    while (step < size && this.timeOf(step) <= micros) step *= 2;
    return firstWhere(step >> 1, Math.min(step, size), (index) => this.timeOf(index) > micros);
  }

  #unitsOf(index: number): number {
    return this.#totalBefore(index + 1) - this.#totalBefore(index);
  }

  #totalBefore(index: number): number {
    if (this.#totals === undefined) return index;
    return index === 0 ? this.#dropped : (this.#totals[this.#start + index - 1] as number);
  }

  /** Adds the total of the hit that `append` is about to add. */
  #appendTotal(cost: number): void {
    this.#totals ??= this.#times.map((_, index) => Math.max(0, index + 1 - this.#start));
    if (this.#totalBefore(this.size) + cost > Number.MAX_SAFE_INTEGER) this.#restartTotals();
    this.#totals.push(this.#totalBefore(this.size) + cost);
  }

  #lowerTotals(index: number, units: number): void {
    const totals = this.#totals;
    if (totals === undefined) return;
    for (let at = this.#start + index; at < totals.length; at++) totals[at]! -= units;
  }

  /** Starts the totals at the oldest hit again, so that they stay safe integers. */
  #restartTotals(): void {
    this.#lowerTotals(0, this.#dropped);
    this.#dropped = 0;
  }

  #drop(count: number): void {
    if (this.#totals !== undefined) this.#dropped = this.#totalBefore(count);
    this.#start += count;
    if (this.#start > this.size) this.#cut();
  }

  #cut(): void {
    this.#times = this.#times.slice(this.#start);
    this.#totals = this.#times.length === 0 ? undefined : this.#totals?.slice(this.#start);
    this.#start = 0;
    if (this.#totals === undefined) this.#dropped = 0;
  }
}

/** The first index above `low` for which `holds`, or `high`. Once it holds, it holds for all higher indices. */
function firstWhere(low: number, high: number, holds: (index: number) => boolean): number {
  let [below, at] = [low, high];
  while (below + 1 < at) {
    const middle = (below + at) >>> 1;
    if (holds(middle)) at = middle;
    else below = middle;
  }
  return at;
}
