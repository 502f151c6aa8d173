import { type Algorithm, createLimit, WINDOW_MICROS } from '../limits.js';
import { mostInAnyWindow, Trial } from '../trial.js';

/** The decisions of a limiter, compared with an exact window over the requests that the same limiter allowed. */
export interface Score {
  readonly requests: number;
  readonly allowed: number;
  /** Requests that it allowed although the window was full. */
  readonly wronglyAllowed: number;
  /** Requests that it rejected although the window had room. */
  readonly wronglyRejected: number;
  /** The most requests that it allowed in any window. */
  readonly most: number;
}

/** Replays the requests of one client with an algorithm that never delays. The times never decrease. */
export function score(algorithm: Algorithm, limit: number, times: readonly number[]): Score {
  const trial = new Trial(createLimit(algorithm, limit));
  const allowedTimes: number[] = [];
  let first = 0; // The index of the first allowed request in the window.
  let wronglyAllowed = 0;
  let wronglyRejected = 0;
  for (const time of times) {
    while (allowedTimes[first]! <= time - WINDOW_MICROS) first += 1;
    const hasRoom = allowedTimes.length - first < limit;
    const isAllowed = trial.startTime(time) !== undefined;
    if (isAllowed && !hasRoom) wronglyAllowed += 1;
    if (!isAllowed && hasRoom) wronglyRejected += 1;
    if (isAllowed) allowedTimes.push(time);
  }
  trial.close();
  const most = mostInAnyWindow(allowedTimes, WINDOW_MICROS);
  return { requests: times.length, allowed: allowedTimes.length, wronglyAllowed, wronglyRejected, most };
}

/** Combines the scores of several clients: sums, and the maximum of `most`. */
export function combine(scores: readonly Score[]): Score {
  const sum = (what: keyof Score) => scores.reduce((total, one) => total + one[what], 0);
  return {
    requests: sum('requests'),
    allowed: sum('allowed'),
    wronglyAllowed: sum('wronglyAllowed'),
    wronglyRejected: sum('wronglyRejected'),
    most: scores.reduce((most, one) => Math.max(most, one.most), 0),
  };
}
