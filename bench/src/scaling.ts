import type { DecideTask } from './decide-worker.js';
import type { Effort } from './effort.js';
import { EXACT } from './limits.js';
import { measureInTurn, median } from './statistics.js';
import { type Report, type Row, times, toFigure, whole } from './table.js';
import { canPin, startEach } from './worker.js';

const LIMITS = [10, 100, 1_000, 10_000, 100_000];
const TRIES_PER_HIT = { allowed: 1, rejected: 100 };
/** All processes share this core, because a machine's cores may differ in speed. */
const CORE = 1;

/** The number of keys with which the others are compared. */
const USUAL_KEYS = 10_000;

type Column = 'allowed' | 'rejected' | 'ratio';

/** Measures Rollgate's checks for growing limits and numbers of keys. */
export async function measureScaling(effort: Effort['scaling']): Promise<Report<Column>> {
  const { rounds, checks } = effort;
  return {
    headers: { allowed: 'allowed, ns', rejected: 'rejected, ns', ratio: `against ${whole(USUAL_KEYS)} keys` },
    rows: [...(await measureLimits(effort)), ...(await measureKeys(effort))],
    method: [
      `- **All**: \`decide\`, not awaited, with an injected clock. One process per figure${canPin ? ', all pinned to one core' : ', NOT pinned to one core'}. The processes of one row, and those of all numbers of keys, take turns. Medians of ${rounds} rounds, each of at least ${whole(checks)} checks.`,
      `- **Log full**: 10 keys. One check for each hit that leaves the window (allowed), or ${TRIES_PER_HIT.rejected} checks for each (rejected, 1 in ${TRIES_PER_HIT.rejected} allowed).`,
      "- **Keys**: limit 10, with 5 hits in each key's window.",
    ],
  };
}

async function measureLimits({ rounds, checks }: Effort['scaling']): Promise<Row<Column>[]> {
  const rows: Row<Column>[] = [];
  for (const limit of LIMITS) {
    const tasks = Object.values(TRIES_PER_HIT).map(
      (triesPerHit): DecideTask => ({
        algorithm: EXACT,
        limit,
        keyCount: 10,
        hitsPerWindow: limit,
        checks,
        triesPerHit,
      }),
    );
    const [allowed, rejected] = await measureEach(rounds, tasks);
    const cells = { allowed: toFigure(allowed!, whole), rejected: toFigure(rejected!, whole) };
    rows.push({ what: `limit ${whole(limit)}, log full`, cells });
  }
  return rows;
}

async function measureKeys({ rounds, checks, keys }: Effort['scaling']): Promise<Row<Column>[]> {
  const tasks = keys.map(
    (keyCount): DecideTask => ({
      algorithm: EXACT,
      limit: 10,
      keyCount,
      hitsPerWindow: 5,
      triesPerHit: 1,
      checks: Math.max(checks, keyCount),
    }),
  );
  const figures = await measureEach(rounds, tasks);
  const usual = figures[keys.indexOf(USUAL_KEYS)]!;
  return keys.map((keyCount, index) => ({
    what: `${whole(keyCount)} keys`,
    cells: { allowed: toFigure(figures[index]!, whole), ratio: toFigure(figures[index]! / usual, times) },
  }));
}

/** Returns the median of each task. Uses a process for each task, so that no task shapes the compiled code of another. */
async function measureEach(rounds: number, tasks: readonly DecideTask[]): Promise<number[]> {
  const names = tasks.map((_, index) => String(index));
  await using workers = await startEach<string, DecideTask, number>(names, 'decide-worker.ts', {
    flags: ['--expose-gc'],
    core: CORE,
  });
  const figures = await measureInTurn(workers, { rounds }, ({ name, worker }) => worker.run(tasks[Number(name)]!));
  return [...figures.values()].map(median);
}
