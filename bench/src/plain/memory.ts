import { inTurn, median } from '../statistics.js';
import { Worker } from '../worker.js';
import { type PlainMemoryTask, SUBJECTS, type SubjectName } from './memory-subjects.js';
import type { PlainRow } from './row.js';

const ROUNDS = 9;
const WARM_UP_ROUNDS = 3;

/** Rollgate's speed divided by that of the other library. */
const ROWS: readonly [SubjectName, SubjectName, number][] = [
  ['rolling window', 'express-rate-limit', 0.7],
  ['fixed window', 'express-rate-limit', 0.65],
  ['token bucket', 'express-rate-limit', 0.6],
  ['rolling window', 'rate-limiter-flexible', 2],
];

/** Compares awaited checks in memory, all in one process: keys that fill up, then rejections. */
export async function measurePlainMemory(): Promise<PlainRow[]> {
  const worker = await Worker.start<PlainMemoryTask, number>('plain/memory-worker.ts', {
    flags: ['--expose-gc'],
    core: 1,
  });
  const seconds = Object.fromEntries(SUBJECTS.map((name) => [name, [] as number[]])) as Record<SubjectName, number[]>;
  try {
    for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
      for (const name of inTurn(SUBJECTS, round)) {
        const took = await worker.run({ subject: name });
        if (round >= WARM_UP_ROUNDS) seconds[name].push(took);
      }
    }
  } finally {
    await worker.stop();
  }
  return ROWS.map(([ours, other, bar]) => ({
    what: `memory, checks/s of the ${ours} against ${other}`,
    value: median(seconds[other].map((took, round) => took / seconds[ours][round]!)),
    bar: ['at least', bar],
  }));
}
