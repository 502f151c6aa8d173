/** Longer than any wait that is finite. */
const FOREVER = 2 ** 52;

/**
 * The smallest whole time, `from` or later, at which it holds; `Infinity` when there is none. Once it holds, it holds
 * ever after: so doubling and halving find it by asking alone, and no formula is needed that could be wrong.
 */
export function findFirstTime(from: number, holds: (at: number) => boolean): number {
  if (holds(from)) return from;
  let [before, ahead] = [0, 1];
  while (!holds(from + ahead)) {
    if (ahead > FOREVER) return Infinity;
    [before, ahead] = [ahead, ahead * 2];
  }
  while (before + 1 < ahead) {
    const middle = Math.floor((before + ahead) / 2);
    if (holds(from + middle)) ahead = middle;
    else before = middle;
  }
  return from + ahead;
}
