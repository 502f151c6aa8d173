/** The median. For an even number of values, it is the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The items, with a different one first in each round. So the effect of the position within a round evens out. */
export function inTurn<Item>(items: readonly Item[], round: number): Item[] {
  const first = round % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

/**
 * Measures each item once in each round, in turns, after rounds that warm up. Returns the figures of each item, as many as
 * there are rounds.
 */
export async function measureInTurn<Item, Figures>(
  items: readonly Item[],
  { rounds, warmUpRounds = 0 }: { readonly rounds: number; readonly warmUpRounds?: number },
  measure: (item: Item, round: number) => Figures | Promise<Figures>,
): Promise<ReadonlyMap<Item, readonly Figures[]>> {
  const measured = new Map(items.map((item) => [item, [] as Figures[]]));
  for (let round = 0; round < warmUpRounds + rounds; round++) {
    for (const item of inTurn(items, round)) {
      const figures = await measure(item, round);
      if (round >= warmUpRounds) measured.get(item)!.push(figures);
    }
  }
  return measured;
}

/** The value below which this share of the values lies. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.floor(sorted.length * share)] ?? 0;
}
