import { median } from '../statistics.js';
import { type Row, toFigure } from '../table.js';
import { Worker } from '../worker.js';

/** A faster way, and the general one that decides the same without it. */
export const WAYS = ['fast', 'general'] as const;
export type Way = (typeof WAYS)[number];

/** What each way measured, round by round. */
type Rounds<Result> = Readonly<Record<Way, readonly Result[]>>;

/** Measures both ways in turns, each in its own process on the same core. `file` gets the way as its first argument. */
export async function measureWays<Task, Result>(
  file: string,
  args: readonly string[],
  core: number,
  rounds: number,
  run: (worker: Worker<Task, Result>) => Promise<Result>,
): Promise<Rounds<Result>> {
  const start = (way: Way) => Worker.start<Task, Result>(file, { args: [way, ...args], core });
  const workers = { fast: await start('fast'), general: await start('general') };
  const results: Record<Way, Result[]> = { fast: [], general: [] };
  try {
    for (let round = -1; round < rounds; round++) {
      for (const way of round % 2 === 0 ? WAYS : WAYS.toReversed()) {
        const result = await run(workers[way]);
        if (round >= 0) results[way].push(result); // The first round includes compilation.
      }
    }
  } finally {
    await Promise.all(WAYS.map((way) => workers[way].stop()));
  }
  return results;
}

/** A row with the medians of both ways. The general one has the median of the ratios of each round. */
export function toWaysRow<Result>(
  what: string,
  { fast, general }: Rounds<Result>,
  toValue: (result: Result) => number,
  write: (value: number) => string,
): Row<Way> {
  const ratio = median(fast.map((result, round) => toValue(result) / toValue(general[round]!)));
  return {
    what,
    cells: {
      fast: toFigure(median(fast.map(toValue)), write),
      general: toFigure(median(general.map(toValue)), write, ratio),
    },
  };
}
