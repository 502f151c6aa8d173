import type { Entry } from './entry.js';

/** So many lines that agree decide. At the end of the log, fewer do. */
const DECISIVE_LINES = 8;

/** A single line at the start or end of a log has a wrong date if a longer gap separates it from the rest. */
const LONGEST_EDGE_GAP_MICROS = 180 * 86_400 * 1e6;

/**
 * A time that is ahead of the previous ones by more than the tolerance. Either the log paused or the date is wrong. A following
 * line contradicts the jump if it is earlier by more than the tolerance, and otherwise confirms it. A tie accepts the jump.
 */
export class TimeJump {
  readonly entry: Entry;
  /** In the order of the log. */
  readonly followers: Entry[] = [];
  readonly #fromMicros: number;
  readonly #toleranceMicros: number;
  readonly #isFirst: boolean;
  #contradicting = 0;
  #earliestMicros = Number.POSITIVE_INFINITY;

  /**
   * @param fromMicros The latest time before the jump, or minus infinity.
   * @param isFirst Whether this is the first line of the log.
   */
  constructor(entry: Entry, fromMicros: number, toleranceMicros: number, isFirst: boolean) {
    this.#isFirst = isFirst;
    this.entry = entry;
    this.#fromMicros = fromMicros;
    this.#toleranceMicros = toleranceMicros;
  }

  follow(follower: Entry): void {
    this.followers.push(follower);
    if (follower.micros < this.entry.micros - this.#toleranceMicros) this.#contradicting += 1;
    this.#earliestMicros = Math.min(this.#earliestMicros, follower.micros);
  }

  /** Whether further lines cannot change the decision. */
  get isDecided(): boolean {
    return Math.max(this.#contradicting, this.followers.length - this.#contradicting) >= DECISIVE_LINES;
  }

  get isAccepted(): boolean {
    return this.#contradicting <= this.followers.length - this.#contradicting && !this.#isOutlier;
  }

  get #isOutlier(): boolean {
    const { micros } = this.entry;
    if (this.#fromMicros === Number.NEGATIVE_INFINITY) {
      return this.#isFirst && this.followers.length > 1 && this.#earliestMicros - micros > LONGEST_EDGE_GAP_MICROS;
    }
    return this.followers.length === 0 && micros - this.#fromMicros > LONGEST_EDGE_GAP_MICROS;
  }
}
