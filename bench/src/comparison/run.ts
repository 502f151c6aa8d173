import type { Cell } from '../table.js';
import { Worker } from '../worker.js';
import type { CellResult, CellTask } from './cell-worker.js';

/** The longest cells take half a minute on an idle machine. */
const TIMEOUT_MS = 600_000;

/** The command that produces a cell, or a whole column. */
export function commandOf(probe: string, library?: string): string {
  return ['npm run compare --', probe, library].filter(Boolean).join(' ');
}

export async function runCell(task: CellTask): Promise<Cell | undefined> {
  const options = { timeoutMs: TIMEOUT_MS };
  await using worker = await Worker.start<CellTask, CellResult>('comparison/cell-worker.ts', options);
  try {
    return (await worker.run(task)).cell;
  } catch (error) {
    throw new Error(`Expected a cell from \`${commandOf(task.probe, task.library)}\``, { cause: error });
  }
}

/** Runs the functions, so many at a time. Returns their results in the order of the functions. */
export async function runTogether<Result>(
  runs: readonly (() => Promise<Result>)[],
  atATime: number,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = runs.entries();
  const runNext = async () => {
    for (const [index, run] of queue) results[index] = await run();
  };
  await Promise.all(Array.from({ length: atATime }, runNext));
  return results;
}
