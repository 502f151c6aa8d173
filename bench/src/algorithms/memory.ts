import type { Effort } from '../effort.js';
import { ALGORITHMS, type Algorithm } from '../limits.js';
import { inTurn } from '../statistics.js';
import { whole } from '../table.js';
import { Worker } from '../worker.js';
import type { BytesTask } from './bytes-worker.js';
import { type AlgorithmRow, comparedRow, type Figures, LIMIT, medians, noRounds } from './columns.js';
import type { TimeTask } from './time-worker.js';

/** The core of the timed process. */
const CORE = 1;
/** Checks of a key at once. With more of them, the estimate would reject some. */
const BUNCH = 10;
const FLAGS = ['--expose-gc'];

/** Measures the memory of a key, in a new process for each figure. */
export async function measureKeys({ keys: keyCount }: Effort['algorithms']): Promise<AlgorithmRow[]> {
  const one = await bytesOfEach({ keyCount, hitsPerKey: 1 });
  const full = await bytesOfEach({ keyCount, hitsPerKey: LIMIT });
  return [
    comparedRow('memory, bytes per key with 1 hit', one, whole),
    comparedRow(`memory, bytes per key with ${LIMIT} hits`, full, whole),
  ];
}

async function bytesOfEach(task: BytesTask): Promise<Figures> {
  const figures = noRounds();
  for (const name of ALGORITHMS) {
    const worker = await Worker.start<BytesTask, number>('algorithms/bytes-worker.ts', {
      args: [name],
      flags: FLAGS,
    });
    try {
      figures[name].push(await worker.run(task));
    } finally {
      await worker.stop();
    }
  }
  return medians(figures);
}

/** Measures the time of a check in memory, with one process per algorithm, in turns. */
export async function measureTime({ rounds, checksPerKey }: Effort['algorithms']): Promise<AlgorithmRow[]> {
  const workers = await Promise.all(ALGORITHMS.map(startTimer));
  const evenly = noRounds();
  const bunched = noRounds();
  try {
    for (let round = -1; round < rounds; round++) {
      for (const { name, worker } of inTurn(workers, round + 1)) {
        const ns = await worker.run({ checksPerKey, bunch: 1 });
        const nsBunched = await worker.run({ checksPerKey, bunch: BUNCH });
        if (round < 0) continue; // The first round warms up.
        evenly[name].push(ns);
        bunched[name].push(nsBunched);
      }
    }
  } finally {
    await Promise.all(workers.map(({ worker }) => worker.stop()));
  }
  return [
    comparedRow(`memory, ns/check, allowed, ${BUNCH} of a key at once`, medians(bunched), whole),
    comparedRow('memory, ns/check, allowed, evenly', medians(evenly), whole),
  ];
}

async function startTimer(name: Algorithm) {
  const worker = await Worker.start<TimeTask, number>('algorithms/time-worker.ts', {
    args: [name],
    flags: FLAGS,
    core: CORE,
  });
  return { name, worker };
}
