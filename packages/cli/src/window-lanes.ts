import TinyQueue from 'tinyqueue';
import type { PeriodEnds } from './calendar-span.js';

/** Trimming the front of a shorter list costs more than it saves. */
const MIN_TRIM = 32;

/** The lanes of one caller, numbered from 1. Memory is proportional to the lanes in use. */
export class Lanes {
  readonly owner: number;
  /** When each used lane was taken, oldest first, and which lane it is. */
  #times: number[] = [];
  #taken: number[] = [];
  /** The index of the first used lane in both lists. */
  #start = 0;
  /** Free lanes below `#nextLane`. */
  readonly #free = new TinyQueue<number>();
  /** The first lane that was never taken. */
  #nextLane = 1;

  constructor(owner: number) {
    this.owner = owner;
  }

  /** When a lane was last taken. */
  get newestMicros(): number {
    return this.#times.at(-1)!;
  }

  /** Takes the first free lane, after it has released all lanes taken at `expiredMicros` or before. */
  take(micros: number, expiredMicros: number): number {
    this.#release(expiredMicros);
    const lane = this.#free.pop() ?? this.#nextLane++;
    this.#times.push(micros);
    this.#taken.push(lane);
    return lane;
  }

  #release(expiredMicros: number): void {
    const times = this.#times;
    while (this.#start < times.length && times[this.#start]! <= expiredMicros)
      this.#free.push(this.#taken[this.#start++]!);
    if (this.#start < times.length) this.#trim();
    else if (this.#start > 0) this.#clear();
  }

  /** Starts over, because all lanes are free. */
  #clear(): void {
    this.#times = [];
    this.#taken = [];
    this.#start = 0;
    this.#free.data.length = 0;
    this.#free.length = 0;
    this.#nextLane = 1;
  }

  #trim(): void {
    if (this.#start < MIN_TRIM || this.#start * 2 < this.#times.length) return;
    this.#times = this.#times.slice(this.#start);
    this.#taken = this.#taken.slice(this.#start);
    this.#start = 0;
  }
}

/** The lanes of all callers in the current period of a calendar, numbered from 1. */
export class PeriodLanes {
  readonly #ends: PeriodEnds;
  #endMicros = -Infinity;
  /** By the caller's index. */
  #taken: number[] = [];

  constructor(ends: PeriodEnds) {
    this.#ends = ends;
  }

  /** Takes the next lane of a caller. */
  take(caller: number, micros: number): number {
    const endMicros = this.#ends.at(micros);
    if (endMicros !== this.#endMicros) this.#taken = [];
    this.#endMicros = endMicros;
    const lane = (this.#taken[caller] ?? 0) + 1;
    this.#taken[caller] = lane;
    return lane;
  }
}
