import type { Effort } from './effort.js';
import type { MemoryResult, MemoryTask } from './memory-worker.js';
import { inTurn, median } from './statistics.js';
import { SUBJECT_NAMES, type SubjectName } from './subjects.js';
import { atLeast, millions, type Row, versus } from './table.js';
import { Worker } from './worker.js';

const LIMIT = 100;
const HITS_PER_KEY = 300;

/** This library is so slow that it gets a fifth of the keys, with as many checks per key. */
const SLOW: SubjectName = 'rolling-rate-limiter';

type Rounds = Record<SubjectName, MemoryResult[]>;

/** Measures checks per second in memory, with one process per library, in turns. */
export async function measureMemory({ rounds, keys }: Effort['memory']): Promise<Row[]> {
  const workers = await Promise.all(
    SUBJECT_NAMES.map(async (name) => ({
      name,
      worker: await Worker.start<MemoryTask, MemoryResult>('memory-worker.ts', {
        args: [name],
        flags: ['--expose-gc'],
      }),
    })),
  );
  const measured = Object.fromEntries(SUBJECT_NAMES.map((name) => [name, []])) as unknown as Rounds;
  try {
    for (let round = -1; round < rounds; round++) {
      for (const { name, worker } of inTurn(workers, round + 1)) {
        const keyCount = name === SLOW ? keys / 5 : keys;
        const figures = await worker.run({ limit: LIMIT, keyCount, hitsPerKey: HITS_PER_KEY });
        if (round >= 0) measured[name].push(figures); // The first round warms up.
      }
    }
  } finally {
    await Promise.all(workers.map(({ worker }) => worker.stop()));
  }
  return [
    toRow('memory, checks/s: keys filling up, all allowed', measured, 'filling'),
    toRow('memory, checks/s: long mix, 1 allowed in 3', measured, 'mix'),
  ];
}

function toRow(what: string, measured: Rounds, figure: keyof MemoryResult): Row {
  const perSecond = (name: SubjectName) => median(measured[name].map((result) => result[figure]));
  const ratio = (name: SubjectName) => perSecond('rollgate') / perSecond(name);
  const cell = (name: SubjectName) => millions(perSecond(name)) + (name === 'rollgate' ? '' : versus(ratio(name)));
  return {
    what,
    cells: Object.fromEntries(SUBJECT_NAMES.map((name) => [name, cell(name)])),
    goals: [
      atLeast(0.8, 'express-rate-limit', ratio('express-rate-limit')),
      atLeast(2.2, 'rate-limiter-flexible', ratio('rate-limiter-flexible')),
      atLeast(7, 'rolling-rate-limiter', ratio('rolling-rate-limiter')),
    ],
  };
}
