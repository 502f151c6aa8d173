import { type Algorithm, EXACT, perMinute, WINDOW_MICROS } from '../limits.js';
import { mostInAnyWindow, Trial } from '../trial.js';

/**
 * Bursts of as much as there is room for, at some of these moments. No traffic gets more out of the estimate by two
 * counters: each window of the clock holds `limit` at most, and any window lies over two of them; but for all of
 * `2 * limit` the earlier units would have to count nothing while they are in the window, and one counts still (or more, when
 * half the window has fewer microseconds than the limit has units). So `2 * limit - 1`, which a burst gets a microsecond
 * before a boundary, and one a window less a microsecond later.
 *
 * Nor can it be made to refuse more than half: where it refuses, it has let `limit` through within two windows of the
 * clock, and an exact window twice as much at most.
 */
const WITHIN_MINUTE = [0, 20_500_000, WINDOW_MICROS - 2, WINDOW_MICROS - 1];
const MINUTES = 4;
const MOMENTS = Array.from({ length: MINUTES }, (_, minute) =>
  WITHIN_MINUTE.map((micros) => minute * WINDOW_MICROS + micros),
).flat();

/** What the worst traffic that was found does, and when its bursts come. */
export interface Found {
  readonly bursts: readonly number[];
  readonly figure: number;
}

export interface Worst {
  /** The most in any window. */
  readonly most: Found;
  /** The smallest part that is let through of what an exact window would let through. */
  readonly least: Found;
}

/** Tries every choice of the moments. */
export function findWorst(algorithm: Algorithm, limit: number): Worst {
  let most: Found = { bursts: [], figure: 0 };
  let least: Found = { bursts: [], figure: Infinity };
  for (let choice = 1; choice < 2 ** MOMENTS.length; choice++) {
    const bursts = MOMENTS.filter((_, index) => choice & (1 << index));
    const mine = mostIn(algorithm, limit, bursts);
    if (mine > most.figure) most = { bursts, figure: mine };
    const part = partOfExact(algorithm, limit, bursts);
    if (part < least.figure) least = { bursts, figure: part };
  }
  return { most, least };
}

/** The most that is let through in any window of such bursts. */
export function mostIn(algorithm: Algorithm, limit: number, bursts: readonly number[]): number {
  return mostInAnyWindow(letThrough(algorithm, limit, bursts), WINDOW_MICROS);
}

/** How much is let through, of what an exact window lets through. */
export function partOfExact(algorithm: Algorithm, limit: number, bursts: readonly number[]): number {
  return letThrough(algorithm, limit, bursts).length / letThrough(EXACT, limit, bursts).length;
}

function letThrough(algorithm: Algorithm, limit: number, bursts: readonly number[]): number[] {
  const trial = new Trial(perMinute(algorithm, limit));
  const passed: number[] = [];
  for (const micros of bursts) while (trial.ask(micros) !== undefined) passed.push(micros);
  trial.close();
  return passed;
}
