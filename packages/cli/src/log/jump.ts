import type { Entry } from './entry.js';

/** So many lines that agree decide; the log's end does with fewer. */
const ENOUGH = 8;

/** A line that stands alone by so much, at the very start or end of a log, has a wrong date: no log pauses so long there. */
const ALONE_MICROS = 180 * 86_400 * 1e6;

/**
 * A time further ahead of those before than the tolerance: the log paused, or a date is wrong. What follows decides: a line
 * that is more than the tolerance before it denies it, any other bears it out. A tie is believed, and so a last line is.
 */
export class Jump {
  readonly entry: Entry;
  /** As they came. */
  readonly followers: Entry[] = [];
  readonly #fromMicros: number;
  readonly #toleranceMicros: number;
  #denying = 0;
  #earliestMicros = Number.POSITIVE_INFINITY;

  /** @param fromMicros The latest time before it; minus infinity when there was none. */
  constructor(entry: Entry, fromMicros: number, toleranceMicros: number) {
    this.entry = entry;
    this.#fromMicros = fromMicros;
    this.#toleranceMicros = toleranceMicros;
  }

  follow(follower: Entry): void {
    this.followers.push(follower);
    if (follower.micros < this.entry.micros - this.#toleranceMicros) this.#denying += 1;
    this.#earliestMicros = Math.min(this.#earliestMicros, follower.micros);
  }

  /** Whether what follows may change nothing any more. */
  get isDecided(): boolean {
    return Math.max(this.#denying, this.followers.length - this.#denying) >= ENOUGH;
  }

  get isBelieved(): boolean {
    return this.#denying <= this.followers.length - this.#denying && !this.#isAlone;
  }

  get #isAlone(): boolean {
    const { micros } = this.entry;
    if (this.#fromMicros === Number.NEGATIVE_INFINITY) {
      return this.followers.length > 1 && this.#earliestMicros - micros > ALONE_MICROS;
    }
    return this.followers.length === 0 && micros - this.#fromMicros > ALONE_MICROS;
  }
}
