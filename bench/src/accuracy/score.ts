import { type Algorithm, createLimit, WINDOW_MICROS } from '../limits.js';
import { mostInAnyWindow, Trial } from '../trial.js';

/** The decisions of a limiter, compared with an exact window over the requests that the same limiter allowed. */
export interface Score {
  requests: number;
  allowed: number;
  /** Requests that it allowed although the window was full. */
  wronglyAllowed: number;
  /** Requests that it rejected although the window had room. */
  wronglyRejected: number;
  /** The most requests that it allowed in any window. */
  most: number;
}

/** Replays the requests of each client with an algorithm that never delays. The times of a client never decrease. */
export function scoreOf(algorithm: Algorithm, limit: number, clients: Iterable<readonly number[]>): Score {
  const score = { requests: 0, allowed: 0, wronglyAllowed: 0, wronglyRejected: 0, most: 0 };
  for (const times of clients) {
    const trial = new Trial(createLimit(algorithm, limit));
    const allowedTimes: number[] = [];
    let first = 0; // The index of the first allowed request in the window.
    for (const time of times) {
      while (allowedTimes[first]! <= time - WINDOW_MICROS) first += 1;
      const hasRoom = allowedTimes.length - first < limit;
      const isAllowed = trial.startTime(time) !== undefined;
      if (isAllowed && !hasRoom) score.wronglyAllowed += 1;
      if (!isAllowed && hasRoom) score.wronglyRejected += 1;
      if (isAllowed) allowedTimes.push(time);
    }
    trial.close();
    score.requests += times.length;
    score.allowed += allowedTimes.length;
    score.most = Math.max(score.most, mostInAnyWindow(allowedTimes, WINDOW_MICROS));
  }
  return score;
}
