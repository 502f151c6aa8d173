/**
 * The hits of one key, oldest first.
 *
 * An array whose front is given up lazily: dropping hits moves `#start`, and once they are more than the hits that
 * stay, the array is cut. Adding and dropping so cost O(1) on average, and memory follows the hits that are held.
 *
 * Invariants: times never decrease; `#totals` is absent while every hit costs 1, the usual case, so that such a hit
 * takes one number.
 */
export class HitLog {
  /** Microseconds. */
  #times: number[] = [];
  /** Beside each time the units of all hits up to and including it, `#dropped` included. */
  #totals: number[] | undefined;
  /** The oldest hit's place in both arrays. */
  #start = 0;
  /** Units in front of the oldest hit, as far as they are part of its total. */
  #dropped = 0;
  /** The longest minDifference of all limits that have recorded, in microseconds. Absent when none had one. */
  declare longestDifferenceMicros?: number;

  /** How many hits there are. */
  get size(): number {
    return this.#times.length - this.#start;
  }

  /** The newest hit's time in microseconds; `-Infinity` when there is none. */
  get newestMicros(): number {
    const { length } = this.#times;
    return length === this.#start ? -Infinity : (this.#times[length - 1] as number);
  }

  /** The time of the hit at `index`, which is below `size`. */
  timeOf(index: number): number {
    return this.#times[this.#start + index] as number;
  }

  /** Index of the first hit later than `micros`; `size` when there is none. O(log n), and O(1) near the oldest. */
  firstAfter(micros: number): number {
    return this.size === 0 || this.timeOf(0) > micros ? 0 : this.#searchAfter(micros);
  }

  /** The units of all hits from `index` on. */
  unitsFrom(index: number): number {
    const { size } = this;
    return this.#totals === undefined ? size - index : this.#totalBefore(size) - this.#totalBefore(index);
  }

  /** Index of the hit that holds the `units`-th unit, counted from the hit at `from`. There are that many. O(log n). */
  indexOfUnit(from: number, units: number): number {
    const total = this.#totalBefore(from) + units;
    if (this.#totals === undefined) return total - 1;
    return firstWhere(from - 1, this.size - 1, (index) => this.#totalBefore(index + 1) >= total);
  }

  /** Adds the newest hit. `micros` is not before the newest time. */
  append(micros: number, cost: number): void {
    if (cost !== 1 || this.#totals !== undefined) this.#appendTotal(cost);
    if (this.#times.length === 0)
      this.#times = [micros]; // Room for one: most keys never need more.
    else this.#times.push(micros);
  }

  /** Forgets the hits before `index`. */
  dropBefore(index: number): void {
    if (index > 0) this.#drop(index);
  }

  /** Forgets all but the newest `units` units; a hit on the edge keeps the newer part of its units. */
  keepNewest(units: number): void {
    const excess = this.unitsFrom(0) - units;
    if (excess <= 0) return;
    const total = this.#totalBefore(0) + excess;
    this.dropBefore(units === 0 ? this.size : this.indexOfUnit(0, excess + 1));
    if (this.#totals !== undefined) this.#dropped = total;
  }

  /** Takes back up to `cost` of the units that were recorded at `micros`. O(hits recorded since). */
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

  /** A copy for people and for tests: the time in microseconds and the units of each hit. */
  toJSON(): [micros: number, units: number][] {
    return Array.from({ length: this.size }, (_, index) => [this.timeOf(index), this.#unitsOf(index)]);
  }

  /** As {@link firstAfter} when the oldest hit is not the one. */
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

  /** `cost` is for the hit that is about to be added. */
  #appendTotal(cost: number): void {
    this.#totals ??= this.#times.map((_, place) => Math.max(0, place + 1 - this.#start));
    if (this.#totalBefore(this.size) + cost > Number.MAX_SAFE_INTEGER) this.#restartTotals();
    this.#totals.push(this.#totalBefore(this.size) + cost);
  }

  #lowerTotals(index: number, units: number): void {
    const totals = this.#totals;
    if (totals === undefined) return;
    for (let place = this.#start + index; place < totals.length; place++) totals[place]! -= units;
  }

  /** Counts from the oldest hit again: so the totals stay exact integers for ever. */
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

/** The first index above `low` for which `holds`; `high` when none below it does. Once `holds`, it holds ever after. */
function firstWhere(low: number, high: number, holds: (index: number) => boolean): number {
  let [below, at] = [low, high];
  while (below + 1 < at) {
    const middle = (below + at) >>> 1;
    if (holds(middle)) at = middle;
    else below = middle;
  }
  return at;
}
