/** The counter of one item. */
interface Counter<Item> {
  readonly name: string;
  last: Item;
  count: number;
  /** The count that its place had before it. */
  readonly overcount: number;
}

/**
 * The most frequent items of a stream, by counters whose number is bounded (Space-Saving). A new item takes the counter with the
 * least count, and goes on from there, so that no count is ever too low.
 */
export class Heaviest<Item> {
  readonly #max: number;
  readonly #counters = new Map<string, Counter<Item>>();
  /** The counters by their count, so that each update and the search for the least one take constant time. */
  readonly #byCount = new Map<number, Set<Counter<Item>>>();
  #least = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts an item by its name. */
  add(name: string, item: Item): void {
    const known = this.#counters.get(name);
    if (known !== undefined) {
      known.last = item;
      this.#remove(known);
      this.#put(known, known.count + 1);
      return;
    }
    let overcount = 0;
    if (this.#counters.size === this.#max) {
      const [least] = this.#byCount.get(this.#least)!;
      overcount = least!.count;
      this.#counters.delete(least!.name);
      this.#remove(least!);
    }
    const counter = { name, last: item, count: overcount, overcount };
    this.#counters.set(name, counter);
    if (overcount === 0) this.#least = 1;
    this.#put(counter, overcount + 1);
  }

  /** Returns the items with the highest counts, highest first. */
  top(count: number): Counter<Item>[] {
    return [...this.#counters.values()].sort((one, other) => other.count - one.count).slice(0, count);
  }

  /** The most that an item without a counter may have. */
  get mostOfOthers(): number {
    return this.#counters.size === this.#max ? this.#least : 0;
  }

  #remove(counter: Counter<Item>): void {
    const equals = this.#byCount.get(counter.count)!;
    equals.delete(counter);
    if (equals.size > 0) return;
    this.#byCount.delete(counter.count);
    // Each counter that leaves has a successor with a count that is higher by 1.
    if (this.#least === counter.count) this.#least += 1;
  }

  #put(counter: Counter<Item>, count: number): void {
    counter.count = count;
    const equals = this.#byCount.get(count);
    if (equals === undefined) this.#byCount.set(count, new Set([counter]));
    else equals.add(counter);
  }
}
