import type { Caller } from './log/entry.js';

/** So many numbers are kept for single callers at first. */
const BUDGET = 500_000;

/**
 * How many requests took each slot, in total and for the caller that reached the highest one. Since that caller is known only
 * at the end, each caller with several slots has its own counts. When they become too many, those of callers with less than
 * half of the highest slot join a common list.
 */
export class SlotCounts {
  /** By the slot, the first at index 1. */
  readonly #common: number[] = [0];
  /** By the caller's index, then the slot minus 2. `null` once they joined the common list. */
  #ofCaller: (number[] | null | undefined)[] = [];
  /** The highest slot of each caller, by its index. */
  readonly #highest: number[] = [];
  #heaviest: Caller | undefined;
  #highestSlot = 0;
  #size = 0;
  #budget = BUDGET;

  add(caller: Caller, slot: number): void {
    const { index } = caller;
    if (slot > (this.#highest[index] ?? 0)) this.#raise(caller, slot);
    const counts = slot === 1 ? null : this.#ofCaller[index];
    if (counts === null || counts === undefined) this.#common[slot]! += 1;
    else counts[slot - 2]! += 1;
  }

  /** The caller that reached the highest slot first. */
  get heaviest(): Caller {
    return this.#heaviest!;
  }

  /** The number of requests that took each slot, by the slot. The first one is at index 1. */
  requestsAt(): number[] {
    const all = [...this.#common];
    for (const counts of this.#ofCaller) if (counts) addTo(all, counts);
    return all;
  }

  /** The same without the heaviest caller, or `undefined` if its own counts are unknown. */
  requestsWithoutHeaviest(requestsOfHeaviest: number): number[] | undefined {
    const counts = this.#ofCaller[this.heaviest.index];
    if (counts === null || counts === undefined) return undefined;
    const all = this.requestsAt();
    let first = requestsOfHeaviest;
    for (const [at, count] of counts.entries()) {
      all[at + 2]! -= count;
      first -= count;
    }
    all[1]! -= first;
    return all;
  }

  /** The number of callers whose highest slot this is, by the slot. */
  callersAt(): number[] {
    const callers = new Array<number>(this.#highestSlot + 1).fill(0);
    for (const slot of this.#highest) if (slot !== undefined) callers[slot]! += 1;
    return callers;
  }

  #raise(caller: Caller, slot: number): void {
    this.#highest[caller.index] = slot;
    if (slot > this.#highestSlot) {
      this.#highestSlot = slot;
      this.#heaviest = caller;
      this.#common.push(0);
    }
    if (slot === 1) return;
    const counts = this.#ofCaller[caller.index];
    if (counts === undefined) this.#ofCaller[caller.index] = [0];
    else if (counts !== null) counts.push(0);
    this.#size += 1;
    if (this.#size > this.#budget) this.#join();
  }

  #join(): void {
    this.#size = 0;
    for (const [index, counts] of this.#ofCaller.entries()) {
      if (!counts) continue;
      if (counts.length * 2 < this.#highestSlot) {
        addTo(this.#common, counts);
        this.#ofCaller[index] = null;
      } else this.#size += counts.length;
    }
    this.#budget = Math.max(BUDGET, this.#size * 2);
  }
}

function addTo(all: number[], counts: readonly number[]): void {
  for (const [at, count] of counts.entries()) all[at + 2]! += count;
}
