import { type Algorithm, perMinute, WINDOW_MICROS } from '../limits.js';
import { mostInAnyWindow, Trial } from '../trial.js';

/** The decisions of a limiter, compared with an exact window over the requests that the same limiter allowed. */
export interface Judgement {
  readonly requests: number;
  readonly allowed: number;
  /** Requests that it allowed although the window was full. */
  readonly excess: number;
  /** Requests that it rejected although the window had room. */
  readonly needless: number;
  /** The most requests that it allowed in any window. */
  readonly most: number;
}

/** Replays the requests of one client with an algorithm that never delays. The times never decrease. */
export function judge(algorithm: Algorithm, limit: number, times: readonly number[]): Judgement {
  const trial = new Trial(perMinute(algorithm, limit));
  const passed: number[] = [];
  let first = 0; // The index of the first allowed request in the window.
  let excess = 0;
  let needless = 0;
  for (const time of times) {
    while (passed[first]! <= time - WINDOW_MICROS) first += 1;
    const hasRoom = passed.length - first < limit;
    const isAllowed = trial.startTime(time) !== undefined;
    if (isAllowed && !hasRoom) excess += 1;
    if (!isAllowed && hasRoom) needless += 1;
    if (isAllowed) passed.push(time);
  }
  trial.close();
  const most = mostInAnyWindow(passed, WINDOW_MICROS);
  return { requests: times.length, allowed: passed.length, excess, needless, most };
}

/** Combines the judgements of several clients: sums, and the maximum of `most`. */
export function combine(judgements: readonly Judgement[]): Judgement {
  const sum = (what: keyof Judgement) => judgements.reduce((total, judgement) => total + judgement[what], 0);
  return {
    requests: sum('requests'),
    allowed: sum('allowed'),
    excess: sum('excess'),
    needless: sum('needless'),
    most: judgements.reduce((most, judgement) => Math.max(most, judgement.most), 0),
  };
}
