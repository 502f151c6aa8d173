import type { Effort } from './effort.js';
import type { MemoryResult, MemoryTask } from './memory-worker.js';
import { measureInTurn, median } from './statistics.js';
import { SUBJECT_NAMES, type SubjectName, subjectHeaders } from './subjects.js';
import { compareFigures, millions, type Report, type Row, whole } from './table.js';
import { canPin, startEach } from './worker.js';

const LIMIT = 100;
const HITS_PER_KEY = 300;

const WARM_UP_ROUNDS = 2;
/** All processes share this core, because a machine's cores may differ in speed. */
const CORE = 1;

/** This library is so slow that it gets a fifth of the keys, with as many checks per key. */
const SLOW: SubjectName = 'rolling-rate-limiter';
const SLOW_SHARE = 5;

type Rounds = Record<SubjectName, MemoryResult[]>;

/** Measures checks per second in memory, with one process per library, in turns. Starts all of them several times. */
export async function measureMemory({ starts, rounds, keys }: Effort['memory']): Promise<Report<SubjectName>> {
  const measured = Object.fromEntries(SUBJECT_NAMES.map((name) => [name, []])) as unknown as Rounds;
  for (let start = 0; start < starts; start++) {
    await using workers = await startEach<SubjectName, MemoryTask, MemoryResult>(SUBJECT_NAMES, 'memory-worker.ts', {
      flags: ['--expose-gc'],
      core: CORE,
    });
    const figures = await measureInTurn(workers, { rounds, warmUpRounds: WARM_UP_ROUNDS }, ({ name, worker }) => {
      const keyCount = name === SLOW ? keys / SLOW_SHARE : keys;
      return worker.run({ subject: name, limit: LIMIT, keyCount, hitsPerKey: HITS_PER_KEY });
    });
    for (const [{ name }, results] of figures) measured[name].push(...results);
  }
  return {
    headers: subjectHeaders(),
    rows: [
      toRow('memory, checks/s: keys filling up, all allowed', measured, 'filling'),
      toRow('memory, checks/s: long mix, 1 allowed in 3', measured, 'mix'),
    ],
    method: describeMethod(starts, rounds, keys),
  };
}

function toRow(what: string, measured: Rounds, figure: keyof MemoryResult): Row<SubjectName> {
  const perSecond = (name: SubjectName) => median(measured[name].map((result) => result[figure]));
  return { what, cells: compareFigures(SUBJECT_NAMES, 'rollgate', perSecond, millions) };
}

function describeMethod(starts: number, rounds: number, keys: number): string[] {
  return [
    "In parentheses: Rollgate's figure divided by this one.",
    '',
    `- **Checks**: limit ${LIMIT} a minute, ${whole(keys)} IPv4 keys in turn (${whole(keys / SLOW_SHARE)} for rolling-rate-limiter, which is slow), each call awaited. Rollgate's call is \`check\`. Filling: a new store, ${LIMIT} checks per key. Long mix: ${HITS_PER_KEY} checks per key, so two of three are rejected.`,
    `- **Turns**: one process per library${canPin ? ', all pinned to one core' : ', NOT pinned to one core'}. They take turns, for ${rounds} rounds after ${WARM_UP_ROUNDS} rounds of warm-up. Each library has ${starts} such processes, one after the other, because the figures of a single one depend on chance. The figures are medians. Each round uses a new store, and the one before stays until then. The compiled code of a class is lost with its last object, and a server keeps its store.`,
    '- **@fastify/rate-limit**: its LocalStore, with room for all keys.',
  ];
}
