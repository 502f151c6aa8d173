import type { BytesTask } from './bytes-worker.js';
import type { Effort } from './effort.js';
import { SUBJECT_NAMES, type SubjectName } from './subjects.js';
import { type Row, versus, whole } from './table.js';
import { Worker } from './worker.js';

/** Measures the memory of a key, in a new process for each figure. */
export async function measureBytes({ keysOfOneHit, keysOfHundredHits }: Effort['bytes']): Promise<Row[]> {
  return [
    await measureRow('bytes per key with 1 hit', { keyCount: keysOfOneHit, hitsPerKey: 1 }),
    await measureRow('bytes per key with 100 hits', { keyCount: keysOfHundredHits, hitsPerKey: 100 }),
  ];
}

async function measureRow(what: string, task: BytesTask): Promise<Row> {
  const ours = await measureOne('rollgate', task);
  const cells: Row['cells'] = { rollgate: whole(ours) };
  for (const name of SUBJECT_NAMES) {
    if (name === 'rollgate') continue;
    const theirs = await measureOne(name, task);
    cells[name] = whole(theirs) + versus(ours / theirs);
  }
  return { what, cells };
}

async function measureOne(name: SubjectName, task: BytesTask): Promise<number> {
  const worker = await Worker.start<BytesTask, number>('bytes-worker.ts', { args: [name], flags: ['--expose-gc'] });
  try {
    return await worker.run(task);
  } finally {
    await worker.stop();
  }
}
