import { PriorityQueue, type QueueMember } from '../util/priority-queue.js';

/** The counter of one item. Its `priority` is its count. */
interface Counter<Item> extends QueueMember {
  readonly name: string;
  last: Item;
  /** The count that its place had before it. */
  readonly overcount: number;
}

/**
 * The most frequent items of a stream, by counters whose number is bounded (Space-Saving). A new item takes the counter with the
 * least count, and goes on from there, so that no count is ever too low.
 */
export class Heaviest<Item extends object> {
  readonly #counters = new Map<string, Counter<Item>>();
  readonly #byCount = new PriorityQueue<Counter<Item>>();

  constructor(private readonly max: number) {}

  /** Counts an item by its name. */
  add(name: string, item: Item): void {
    const counter = this.#counters.get(name) ?? this.#addCounter(name, item);
    counter.last = item;
    this.#byCount.set(counter, counter.priority + 1);
  }

  /** Returns the items with the highest counts, highest first, each with its count and the most by which that is too high. */
  top(count: number): (Item & { readonly count: number; readonly overcount: number })[] {
    const sorted = [...this.#counters.values()].sort((one, other) => other.priority - one.priority);
    return sorted.slice(0, count).map(({ last, priority, overcount }) => ({ ...last, count: priority, overcount }));
  }

  /** The most that an item without a counter may have. */
  get mostOfOthers(): number {
    return this.#counters.size === this.max ? this.#byCount.first!.priority : 0;
  }

  #addCounter(name: string, last: Item): Counter<Item> {
    const overcount = this.mostOfOthers;
    if (this.#counters.size === this.max) {
      const least = this.#byCount.first!;
      this.#counters.delete(least.name);
      this.#byCount.remove(least);
    }
    const counter = { name, last, overcount, priority: overcount, queueIndex: -1 };
    this.#counters.set(name, counter);
    return counter;
  }
}
