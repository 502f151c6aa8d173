import type { MemoryResult, MemoryTask } from '../memory-worker.js';
import { measureInTurn, median } from '../statistics.js';
import type { InMemory } from '../subjects.js';
import { Worker } from '../worker.js';
import type { PlainRow } from './row.js';

const EFFORT = { rounds: 9, warmUpRounds: 3 };
/** Of three checks of a key, one is allowed. No bucket gets a token during a round. */
const TASK = { limit: 100, keyCount: 2_000, hitsPerKey: 300, windowMs: 3_600_000 };

/** Three algorithms of Rollgate, and two counters of fixed windows. */
const SUBJECTS = {
  'rolling window': 'rollingWindow',
  'fixed window': 'fixedWindow',
  'token bucket': 'tokenBucket',
  'express-rate-limit': 'express-rate-limit',
  'rate-limiter-flexible': 'rate-limiter-flexible',
} satisfies Record<string, InMemory>;
type Title = keyof typeof SUBJECTS;

/** Rollgate's speed divided by that of the other library. */
const ROWS: readonly [Title, Title, number][] = [
  ['rolling window', 'express-rate-limit', 0.7],
  ['fixed window', 'express-rate-limit', 0.65],
  ['token bucket', 'express-rate-limit', 0.6],
  ['rolling window', 'rate-limiter-flexible', 2],
];

/** Compares awaited checks in memory, all in one process: keys that fill up, then rejections. */
export async function measurePlainMemory(): Promise<PlainRow[]> {
  await using worker = await Worker.start<MemoryTask, MemoryResult>('memory-worker.ts', {
    flags: ['--expose-gc'],
    core: 1,
  });
  const titles = Object.keys(SUBJECTS) as Title[];
  const results = await measureInTurn(titles, EFFORT, (title) => worker.run({ ...TASK, subject: SUBJECTS[title] }));
  return ROWS.map(([ours, other, bar]) => ({
    what: `memory, checks/s of the ${ours} against ${other}`,
    value: median(results.get(ours)!.map(({ mix }, round) => mix / results.get(other)![round]!.mix)),
    bar: ['at least', bar],
  }));
}
