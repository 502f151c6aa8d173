import type { Attempt } from '../shared/protocol.js';
import type { Algorithm } from '../shared/settings.js';

/** `beyond` is allowed although the last window then contains more than the limit. */
export type MarkState = 'allowed' | 'beyond' | 'rejected';

/** One request in the row of one algorithm. */
export interface Mark {
  readonly attempt: Attempt;
  /** When an allowed request starts, after its delay, or when it was rejected. */
  readonly momentMs: number;
  readonly state: MarkState;
  /** How many requests the algorithm had allowed in the window that ends with this mark, including this one. */
  readonly count: number;
  /** Of an allowed mark: the first request of that window. */
  readonly firstMs: number;
}

/** An excess: more requests than the limit within `fromMs` and `toMs`, which are less than a window apart. */
export interface Excess {
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/** What one algorithm decided about all requests, and how many it allowed in any window. */
export class RowHistory {
  readonly algorithm: Algorithm;
  /** Sorted by moment. */
  readonly marks: readonly Mark[];
  readonly excesses: readonly Excess[];

  constructor(algorithm: Algorithm, attempts: readonly Attempt[]) {
    this.algorithm = algorithm;
    this.marks = toMarks(algorithm, attempts);
    this.excesses = toExcesses(this.marks);
  }

  /** The index of the first mark later than this moment. */
  firstAfter(momentMs: number): number {
    let low = 0;
    let high = this.marks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.marks[middle]!.momentMs > momentMs) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** How many requests were allowed later than `fromMs`, until `toMs`, since all limits last started over. */
  allowedBetween(fromMs: number, toMs: number, countedFromMs: number): number {
    let allowed = 0;
    for (let index = this.firstAfter(fromMs); index < this.marks.length; index++) {
      const { momentMs, state, attempt } = this.marks[index]!;
      if (momentMs > toMs) break;
      if (state !== 'rejected' && attempt.atMs >= countedFromMs) allowed += 1;
    }
    return allowed;
  }

  /** The most requests that were allowed within any window until `toMs`, of those that arrived from `sinceMs` on. */
  most(sinceMs: number, toMs: number): number {
    let [most, first] = [0, 0];
    const counted = this.marks.filter(
      ({ state, attempt, momentMs }) => state !== 'rejected' && attempt.atMs >= sinceMs && momentMs <= toMs,
    );
    for (const [index, { momentMs, attempt }] of counted.entries()) {
      while (counted[first]!.momentMs <= momentMs - attempt.windowMs) first += 1;
      most = Math.max(most, index - first + 1);
    }
    return most;
  }
}

function toMarks(algorithm: Algorithm, attempts: readonly Attempt[]): Mark[] {
  const moments = attempts.map((attempt) => ({ attempt, momentMs: attempt.atMs + (attempt.delays[algorithm] ?? 0) }));
  if (algorithm === 'leaky') moments.sort((a, b) => a.momentMs - b.momentMs);
  /** The moments at which requests were allowed, by when all limits had started over. */
  const eras = new Map<number, { moments: number[]; first: number }>();
  return moments.map(({ attempt, momentMs }) => {
    let era = eras.get(attempt.countedFromMs);
    if (era === undefined) {
      era = { moments: [], first: 0 };
      eras.set(attempt.countedFromMs, era);
    }
    while (era.first < era.moments.length && era.moments[era.first]! <= momentMs - attempt.windowMs) era.first += 1;
    const isAllowed = attempt.delays[algorithm] !== null;
    if (isAllowed) era.moments.push(momentMs);
    const count = era.moments.length - era.first;
    const state = isAllowed ? (count > attempt.limit ? 'beyond' : 'allowed') : 'rejected';
    return { attempt, momentMs, state, count, firstMs: era.moments[era.first] ?? momentMs };
  });
}

/** Of marks beyond the limit that follow each other within a window, the one with the highest count represents all. */
function toExcesses(marks: readonly Mark[]): Excess[] {
  const excesses: Excess[] = [];
  let last: Mark | undefined;
  for (const mark of marks) {
    if (mark.state !== 'beyond') continue;
    const excess = { fromMs: mark.firstMs, toMs: mark.momentMs, count: mark.count };
    const continues = last !== undefined && mark.momentMs - last.momentMs < mark.attempt.windowMs;
    if (!continues) excesses.push(excess);
    else if (excess.count >= excesses.at(-1)!.count) excesses[excesses.length - 1] = excess;
    last = mark;
  }
  return excesses;
}
