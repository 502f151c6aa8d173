import { bytesOfEach } from '../bytes.js';
import type { DecideTask } from '../decide-worker.js';
import type { Effort } from '../effort.js';
import { ALGORITHMS, type Algorithm } from '../limits.js';
import { measureInTurn } from '../statistics.js';
import { whole } from '../table.js';
import { startEach } from '../worker.js';
import { type AlgorithmRow, comparedRow, HITS_PER_WINDOW, LIMIT, mediansByName } from './columns.js';

/** The core of the timed process. */
const CORE = 1;
/** Checks of a key at once. With more of them, the estimate would reject some. */
const BUNCH = 10;
const KEYS = 1_000;

/** Measures the memory of a key, in a new process for each figure. */
export async function measureKeys({ keys: keyCount }: Effort['algorithms']): Promise<AlgorithmRow[]> {
  const one = await bytesOfEach(ALGORITHMS, { keyCount, hitsPerKey: 1 });
  const full = await bytesOfEach(ALGORITHMS, { keyCount, hitsPerKey: LIMIT });
  return [
    comparedRow('memory, bytes per key with 1 hit', one, whole),
    comparedRow(`memory, bytes per key with ${LIMIT} hits`, full, whole),
  ];
}

/** Measures the time of a check in memory, with one process per algorithm, in turns. */
export async function measureTime({ rounds, checksPerKey }: Effort['algorithms']): Promise<AlgorithmRow[]> {
  const options = { flags: ['--expose-gc'], core: CORE };
  await using workers = await startEach<Algorithm, DecideTask, number>(ALGORITHMS, 'decide-worker.ts', options);
  const checks = checksPerKey * KEYS;
  const task = { limit: LIMIT, keyCount: KEYS, hitsPerWindow: HITS_PER_WINDOW, triesPerHit: 1, checks };
  const figures = await measureInTurn(workers, { rounds, warmUpRounds: 1 }, async ({ name: algorithm, worker }) => ({
    evenly: await worker.run({ ...task, algorithm }),
    bunched: await worker.run({ ...task, algorithm, bunch: BUNCH }),
  }));
  const mediansOf = (kind: 'evenly' | 'bunched') => mediansByName(figures, (round) => round[kind]);
  return [
    comparedRow(`memory, ns/check, allowed, ${BUNCH} of a key at once`, mediansOf('bunched'), whole),
    comparedRow('memory, ns/check, allowed, evenly', mediansOf('evenly'), whole),
  ];
}
