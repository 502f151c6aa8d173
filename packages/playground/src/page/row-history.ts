import type { Attempt } from '../shared/protocol.js';
import type { RowName } from '../shared/settings.js';
import { type Excess, toExcesses } from './excesses.js';
import { type Mark, toMarks } from './row-marks.js';

/** What one row decided about all requests, and how many it allowed in any window. A request counts when it starts. */
export class RowHistory {
  readonly name: RowName;
  /** Sorted by moment. */
  readonly marks: readonly Mark[];
  readonly excesses: readonly Excess[];

  constructor(name: RowName, attempts: readonly Attempt[]) {
    this.name = name;
    this.marks = toMarks(name, attempts);
    this.excesses = toExcesses(this.marks);
  }

  /** The index of the first mark later than this moment. */
  firstAfter(micros: number): number {
    let low = 0;
    let high = this.marks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.marks[middle]!.micros > micros) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** How many requests started later than `fromMicros`, until `toMicros`, since all limits last started over. */
  startedBetween(fromMicros: number, toMicros: number, countedFromMs: number): number {
    let started = 0;
    for (let index = this.firstAfter(fromMicros); index < this.marks.length; index++) {
      const { micros, state, attempt } = this.marks[index]!;
      if (micros > toMicros) break;
      if (state !== 'rejected' && attempt.atMs >= countedFromMs) started += 1;
    }
    return started;
  }

  /** When the counter restarts, if a window starts with the first request after the end of the one before. */
  restarts(windowMs: number): number[] {
    const restarts: number[] = [];
    let startedOverMs = -Infinity;
    for (const { attempt } of this.marks) {
      if (attempt.countedFromMs !== startedOverMs) {
        startedOverMs = attempt.countedFromMs;
        if (restarts.at(-1)! > startedOverMs) restarts.pop();
      }
      if (attempt.atMs >= (restarts.at(-1) ?? -Infinity)) restarts.push(attempt.atMs + windowMs);
    }
    return restarts;
  }

  /** The most requests that started within any window until `toMs`, of those that arrived from `sinceMs` on. */
  most(sinceMs: number, toMs: number): number {
    let [most, first] = [0, 0];
    const counted = this.marks.filter(
      ({ state, attempt, momentMs }) => state !== 'rejected' && attempt.atMs >= sinceMs && momentMs <= toMs,
    );
    for (const [index, { micros, attempt }] of counted.entries()) {
      while (counted[first]!.micros <= micros - attempt.windowMs * 1000) first += 1;
      most = Math.max(most, index - first + 1);
    }
    return most;
  }
}
