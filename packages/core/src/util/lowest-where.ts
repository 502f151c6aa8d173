/** The first index above `low` for which `holds`, or `high`. Once it holds, it holds for all higher indices. */
export function lowestWhere(low: number, high: number, holds: (index: number) => boolean): number {
  let [below, at] = [low, high];
  while (below + 1 < at) {
    const middle = (below + at) >>> 1;
    if (holds(middle)) at = middle;
    else below = middle;
  }
  return at;
}
