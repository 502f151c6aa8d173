/** Longer than any finite wait, in microseconds. */
const FOREVER = 2 ** 52;

/**
 * Returns the smallest integer time from `from` on at which `holds` is true, or `Infinity`. Once `holds` is true, it
 * must stay true. So a binary search finds the time, without a formula that could be wrong. A right guess saves the search.
 */
export function findFirstTime(from: number, isTrue: (at: number) => boolean, guess = from): number {
  if (guess > from && guess < Infinity && isTrue(guess) && !isTrue(guess - 1)) return guess;
  if (isTrue(from)) return from;
  let [before, ahead] = [0, 1];
  while (!isTrue(from + ahead)) {
    if (ahead > FOREVER) return Infinity;
    [before, ahead] = [ahead, ahead * 2];
  }
  while (before + 1 < ahead) {
    const middle = Math.floor((before + ahead) / 2);
    if (isTrue(from + middle)) ahead = middle;
    else before = middle;
  }
  return from + ahead;
}
