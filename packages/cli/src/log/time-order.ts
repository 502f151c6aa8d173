import type { Entry } from './entry.js';
import { TimeJump } from './time-jump.js';

/** Sorting fewer entries at a time costs more than it saves. */
const MIN_SORTED = 4096;

/**
 * Sorts the entries of one log by time. Entries of the same time keep their order. An entry is left out if it is earlier than
 * the latest time before it in the log by more than the tolerance. A time that is ahead by more than the tolerance is accepted
 * if the following entries confirm it (see {@link TimeJump}). Otherwise one wrong date would make the rest of the log late.
 *
 * Memory is proportional to the entries within the tolerance.
 */
export class TimeOrder {
  readonly #toleranceMicros: number;
  readonly #onLeftOut: (entry: Entry) => void;
  /** The latest accepted time. */
  #newestMicros = Number.NEGATIVE_INFINITY;
  /** Sorted. */
  #waiting: Entry[] = [];
  /** In the order of the log, none earlier than the entries already returned. */
  #arrived: Entry[] = [];
  #isEmpty = true;
  /** All entries wait until it is decided. */
  #jump: TimeJump | undefined;

  constructor(toleranceMicros: number, onLeftOut: (entry: Entry) => void) {
    this.#toleranceMicros = toleranceMicros;
    this.#onLeftOut = onLeftOut;
  }

  push(entry: Entry): void {
    const { micros } = entry;
    // It is late even if the jump is accepted, so it does not influence that decision.
    if (micros < this.#newestMicros - this.#toleranceMicros) this.#onLeftOut(entry);
    else if (this.#jump !== undefined) {
      this.#jump.follow(entry);
      if (this.#jump.isDecided) this.#decide();
    } else if (micros > this.#newestMicros + this.#toleranceMicros) {
      this.#jump = new TimeJump(entry, this.#newestMicros, this.#toleranceMicros, this.#isEmpty);
      this.#isEmpty = false;
    } else this.#accept(entry);
  }

  /** Returns the entries that no later line can precede. Often there are none, then many. */
  take(): Entry[] {
    if (this.#arrived.length < Math.max(MIN_SORTED, this.#waiting.length / 2)) return [];
    this.#sort();
    const untilMicros = this.#newestMicros - this.#toleranceMicros;
    const next = this.#waiting.findIndex(({ micros }) => micros > untilMicros);
    return this.#waiting.splice(0, next === -1 ? this.#waiting.length : next);
  }

  /** The rest. */
  end(): Entry[] {
    while (this.#jump !== undefined) this.#decide();
    this.#sort();
    return this.#waiting.splice(0);
  }

  /** Decides the jump and then pushes the entries that waited for it, which may contain the next jump. */
  #decide(): void {
    const { entry, followers, isAccepted } = this.#jump!;
    this.#jump = undefined;
    if (isAccepted) this.#accept(entry);
    else this.#onLeftOut(entry);
    for (const follower of followers) this.push(follower);
  }

  #accept(entry: Entry): void {
    this.#newestMicros = Math.max(this.#newestMicros, entry.micros);
    this.#arrived.push(entry);
  }

  /** Takes linear time for what is sorted already, which is most of it. */
  #sort(): void {
    this.#waiting = this.#waiting.concat(this.#arrived).sort((one, other) => one.micros - other.micros);
    this.#arrived = [];
  }
}
