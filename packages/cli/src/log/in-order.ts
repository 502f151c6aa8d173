import type { Entry } from './entry.js';

/** Sorting fewer at a time is not worth its while. */
const LEAST_SORTED = 4096;

/** A jump ahead is believed when so many lines are beyond it. */
const LOOK_AHEAD = 8;
/** After so many lines that know nothing of a jump ahead, what jumped had a wrong date. */
const PATIENCE = 100;

/**
 * Puts the entries of one log in the order of their times; those of one time stay in the order of their coming. What comes
 * more than the tolerance later than it should is left out. So is what is further ahead while all others stay: a jump ahead
 * is believed when more lines bear it out, for one wrong date must not make the rest of the log late.
 *
 * Memory holds the entries of the last tolerance.
 */
export class InOrder {
  readonly #toleranceMicros: number;
  readonly #onLeftOut: (entry: Entry) => void;
  #newestMicros = Number.NEGATIVE_INFINITY;
  /** Sorted. */
  #waiting: Entry[] = [];
  /** As they came, none before what was given out. */
  #arrived: Entry[] = [];
  /** More than the tolerance beyond all others. */
  #ahead: Entry[] = [];
  #sinceAhead = 0;

  constructor(toleranceMicros: number, onLeftOut: (entry: Entry) => void) {
    this.#toleranceMicros = toleranceMicros;
    this.#onLeftOut = onLeftOut;
  }

  push(entry: Entry): void {
    if (entry.micros > this.#newestMicros + this.#toleranceMicros) this.#lookAhead(entry);
    else {
      this.#accept(entry);
      if (this.#ahead.length > 0 && ++this.#sinceAhead >= PATIENCE) this.#leaveOut(this.#ahead.splice(0));
    }
  }

  /** Those that nothing can come before any more; often none, then many. */
  take(): Entry[] {
    if (this.#arrived.length < Math.max(LEAST_SORTED, this.#waiting.length / 2)) return [];
    this.#sort();
    return this.#waiting.splice(0, countUntil(this.#waiting, this.#newestMicros - this.#toleranceMicros));
  }

  /** The rest. */
  end(): Entry[] {
    while (this.#ahead.length > 0) this.#jump();
    this.#sort();
    return this.#waiting.splice(0);
  }

  #accept(entry: Entry): void {
    if (entry.micros < this.#newestMicros - this.#toleranceMicros) this.#onLeftOut(entry);
    else {
      if (entry.micros > this.#newestMicros) this.#newestMicros = entry.micros;
      this.#arrived.push(entry);
    }
  }

  #lookAhead(entry: Entry): void {
    this.#ahead.push(entry);
    this.#sinceAhead = 0;
    if (this.#ahead.length >= LOOK_AHEAD) this.#jump();
  }

  /** Goes on from the earliest that is ahead, with those that are near it. */
  #jump(): void {
    const sorted = this.#ahead.sort(byTime);
    const reach = sorted[0]!.micros + this.#toleranceMicros;
    for (const entry of sorted.splice(0, countUntil(sorted, reach))) this.#accept(entry);
  }

  #leaveOut(entries: readonly Entry[]): void {
    for (const entry of entries) this.#onLeftOut(entry);
  }

  #sort(): void {
    this.#waiting = merge(this.#waiting, this.#arrived.sort(byTime));
    this.#arrived = [];
  }
}

/** How many entries of the start are not later than this. */
function countUntil(sorted: readonly Entry[], micros: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]!.micros <= micros) low = middle + 1;
    else high = middle;
  }
  return low;
}

function byTime(one: Entry, other: Entry): number {
  return one.micros - other.micros;
}

/** At a tie those of `early` come first. */
function merge(early: Entry[], late: Entry[]): Entry[] {
  if (early.length === 0) return late;
  const merged: Entry[] = [];
  let next = 0;
  for (const entry of late) {
    while (next < early.length && early[next]!.micros <= entry.micros) merged.push(early[next++]!);
    merged.push(entry);
  }
  while (next < early.length) merged.push(early[next++]!);
  return merged;
}
