import { type Algorithm, createLimit, EXACT, WINDOW_MICROS } from '../limits.js';
import { mostInAnyWindow, Trial } from '../trial.js';

/**
 * The moments at which bursts may come. A burst is as many requests as the limiter allows.
 *
 * These moments reach the worst case of the sliding window counter. Each window of the clock contains at most `limit` units,
 * and any window overlaps two of them. A sum of `2 * limit` would require that the earlier units count nothing while they are
 * still in the window, but at least one counts. So the most is `2 * limit - 1`. Two bursts reach it: one a microsecond before
 * a boundary, the other a microsecond less than one window later.
 *
 * The counter never rejects more than half. Where it rejects, it has allowed `limit` units within two windows of the clock, and
 * an exact window allows at most twice as many.
 */
const WITHIN_MINUTE = [0, 20_500_000, WINDOW_MICROS - 2, WINDOW_MICROS - 1];
const MINUTES = 4;
const MOMENTS = Array.from({ length: MINUTES }, (_, minute) =>
  WITHIN_MINUTE.map((micros) => minute * WINDOW_MICROS + micros),
).flat();

/** The worst traffic of the search, with its figure. */
export interface Found {
  readonly bursts: readonly number[];
  readonly figure: number;
}

export interface Worst {
  /** The most units in any window. */
  readonly most: Found;
  /** The smallest share of what an exact window allows. */
  readonly least: Found;
}

/** Tries every choice of moments. */
export function findWorst(algorithm: Algorithm, limit: number): Worst {
  let most: Found = { bursts: [], figure: 0 };
  let least: Found = { bursts: [], figure: Infinity };
  for (let choice = 1; choice < 2 ** MOMENTS.length; choice++) {
    const bursts = MOMENTS.filter((_, index) => choice & (1 << index));
    const count = mostIn(algorithm, limit, bursts);
    if (count > most.figure) most = { bursts, figure: count };
    const share = shareOfExact(algorithm, limit, bursts);
    if (share < least.figure) least = { bursts, figure: share };
  }
  return { most, least };
}

/** The most units that the algorithm allows in any window of these bursts. */
export function mostIn(algorithm: Algorithm, limit: number, bursts: readonly number[]): number {
  return mostInAnyWindow(allowedTimes(algorithm, limit, bursts), WINDOW_MICROS);
}

/** The share of what an exact window allows. */
export function shareOfExact(algorithm: Algorithm, limit: number, bursts: readonly number[]): number {
  return allowedTimes(algorithm, limit, bursts).length / allowedTimes(EXACT, limit, bursts).length;
}

function allowedTimes(algorithm: Algorithm, limit: number, bursts: readonly number[]): number[] {
  const trial = new Trial(createLimit(algorithm, limit));
  const times: number[] = [];
  for (const micros of bursts) while (trial.startTime(micros) !== undefined) times.push(micros);
  trial.close();
  return times;
}
