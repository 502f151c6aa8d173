import type { Entry } from './entry.js';
import { Jump } from './jump.js';
import { byTime, countUntil, mergeSorted } from './sorted.js';

/** Sorting fewer at a time is not worth its while. */
const LEAST_SORTED = 4096;

/**
 * Puts the entries of one log in the order of their times; those of one time stay in the order of their coming. What comes
 * more than the tolerance later than it should is left out: each entry is held against the latest time before it in the log.
 * A time further ahead than the tolerance is believed when what follows bears it out (see {@link Jump}), for one wrong date
 * must not make the rest of the log late; otherwise it is left out.
 *
 * Memory holds the entries of the last tolerance.
 */
export class InOrder {
  readonly #toleranceMicros: number;
  readonly #onLeftOut: (entry: Entry) => void;
  /** Of those believed. */
  #newestMicros = Number.NEGATIVE_INFINITY;
  /** Sorted. */
  #waiting: Entry[] = [];
  /** As they came, none before what was given out. */
  #arrived: Entry[] = [];
  /** While it is not known whether to believe it, all that comes waits. */
  #jump: Jump | undefined;

  constructor(toleranceMicros: number, onLeftOut: (entry: Entry) => void) {
    this.#toleranceMicros = toleranceMicros;
    this.#onLeftOut = onLeftOut;
  }

  push(entry: Entry): void {
    const { micros } = entry;
    // It is late whether a jump is believed or not, and so has no say in that.
    if (micros < this.#newestMicros - this.#toleranceMicros) this.#onLeftOut(entry);
    else if (this.#jump !== undefined) {
      this.#jump.follow(entry);
      if (this.#jump.isDecided) this.#decide();
    } else if (micros > this.#newestMicros + this.#toleranceMicros) {
      this.#jump = new Jump(entry, this.#newestMicros, this.#toleranceMicros);
    } else this.#accept(entry);
  }

  /** Those that nothing can come before any more; often none, then many. */
  take(): Entry[] {
    if (this.#arrived.length < Math.max(LEAST_SORTED, this.#waiting.length / 2)) return [];
    this.#sort();
    return this.#waiting.splice(0, countUntil(this.#waiting, this.#newestMicros - this.#toleranceMicros));
  }

  /** The rest. */
  end(): Entry[] {
    while (this.#jump !== undefined) this.#decide();
    this.#sort();
    return this.#waiting.splice(0);
  }

  /** What waited for it comes again, and may hold the next jump. */
  #decide(): void {
    const { entry, followers, isBelieved } = this.#jump!;
    this.#jump = undefined;
    if (isBelieved) this.#accept(entry);
    else this.#onLeftOut(entry);
    for (const follower of followers) this.push(follower);
  }

  #accept(entry: Entry): void {
    if (entry.micros > this.#newestMicros) this.#newestMicros = entry.micros;
    this.#arrived.push(entry);
  }

  #sort(): void {
    this.#waiting = mergeSorted(this.#waiting, this.#arrived.sort(byTime));
    this.#arrived = [];
  }
}
