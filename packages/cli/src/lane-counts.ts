import type { Caller } from './log/entry.js';

/** So many numbers are kept for single callers at first. */
const BUDGET = 500_000;

/**
 * How many requests took each lane, in total and for the caller that reached the highest one. Since that caller is known only
 * at the end, each caller with several lanes has its own counts. When they become too many, those of callers with less than
 * half of the highest lane join a common list.
 */
export class LaneCounts {
  /** By the lane, the first at index 1. */
  readonly #common: number[] = [0];
  /** By the caller's index, then the lane minus 2. `null` once they joined the common list. */
  #ofCaller: (number[] | null | undefined)[] = [];
  /** The highest lane of each caller, by its index. */
  readonly #highest: number[] = [];
  #heaviest: Caller | undefined;
  #highestLane = 0;
  #size = 0;
  #budget = BUDGET;

  add(caller: Caller, lane: number): void {
    const { index } = caller;
    if (lane > (this.#highest[index] ?? 0)) this.#raise(caller, lane);
    const counts = lane === 1 ? null : this.#ofCaller[index];
    if (counts === null || counts === undefined) this.#common[lane]! += 1;
    else counts[lane - 2]! += 1;
  }

  /** The caller that reached the highest lane first. */
  get heaviest(): Caller {
    return this.#heaviest!;
  }

  /** The number of requests that took each lane, by the lane. The first one is at index 1. */
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

  /** The number of callers whose highest lane this is, by the lane. */
  callersAt(): number[] {
    const callers = new Array<number>(this.#highestLane + 1).fill(0);
    for (const lane of this.#highest) if (lane !== undefined) callers[lane]! += 1;
    return callers;
  }

  #raise(caller: Caller, lane: number): void {
    this.#highest[caller.index] = lane;
    if (lane > this.#highestLane) {
      this.#highestLane = lane;
      this.#heaviest = caller;
      this.#common.push(0);
    }
    if (lane === 1) return;
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
      if (counts.length * 2 < this.#highestLane) {
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
