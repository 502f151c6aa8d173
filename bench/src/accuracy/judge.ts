import { type Algorithm, perMinute, WINDOW_MICROS } from '../limits.js';
import { mostInAnyWindow, Trial } from '../trial.js';

/** What a limiter made of requests, beside what an exact window over what this very limiter let through would have. */
export interface Judgement {
  readonly requests: number;
  readonly letThrough: number;
  /** Let through although the window was full. */
  readonly tooMany: number;
  /** Refused although the window had room. */
  readonly needless: number;
  /** The most that was let through in any window. */
  readonly most: number;
}

/** Has an algorithm that holds nobody decide on the requests of one client; times never decrease. */
export function judge(algorithm: Algorithm, limit: number, times: readonly number[]): Judgement {
  const trial = new Trial(perMinute(algorithm, limit));
  const passed: number[] = [];
  let first = 0; // Of those in the window.
  let tooMany = 0;
  let needless = 0;
  for (const time of times) {
    while (passed[first]! <= time - WINDOW_MICROS) first += 1;
    const hasRoom = passed.length - first < limit;
    const isAllowed = trial.ask(time) !== undefined;
    if (isAllowed && !hasRoom) tooMany += 1;
    if (!isAllowed && hasRoom) needless += 1;
    if (isAllowed) passed.push(time);
  }
  trial.close();
  const most = mostInAnyWindow(passed, WINDOW_MICROS);
  return { requests: times.length, letThrough: passed.length, tooMany, needless, most };
}

/** Of several clients: the sums, and the most of any. */
export function together(judgements: readonly Judgement[]): Judgement {
  const sum = (what: keyof Judgement) => judgements.reduce((total, judgement) => total + judgement[what], 0);
  return {
    requests: sum('requests'),
    letThrough: sum('letThrough'),
    tooMany: sum('tooMany'),
    needless: sum('needless'),
    most: judgements.reduce((most, judgement) => Math.max(most, judgement.most), 0),
  };
}
