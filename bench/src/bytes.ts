import type { BytesTask } from './bytes-worker.js';
import type { Effort } from './effort.js';
import { SUBJECT_NAMES, type SubjectName, subjectHeaders } from './subjects.js';
import { compareFigures, type Report, type Row, whole } from './table.js';
import { Worker } from './worker.js';

/** Measures the memory of a key, in a new process for each figure. */
export async function measureBytes({ keysOfOneHit, keysOfHundredHits }: Effort['bytes']): Promise<Report<SubjectName>> {
  return {
    headers: subjectHeaders(),
    rows: [
      await measureRow('bytes per key with 1 hit', { keyCount: keysOfOneHit, hitsPerKey: 1 }),
      await measureRow('bytes per key with 100 hits', { keyCount: keysOfHundredHits, hitsPerKey: 100 }),
    ],
    method: [
      "In parentheses: Rollgate's figure divided by this one.",
      '',
      `- **Bytes**: heap and buffers after garbage collection, in a new process for each figure, with ${whole(keysOfOneHit)} keys of 1 hit or ${whole(keysOfHundredHits)} keys of 100 hits, including the keys' text.`,
    ],
  };
}

async function measureRow(what: string, task: BytesTask): Promise<Row<SubjectName>> {
  const bytes = new Map<SubjectName, number>();
  for (const name of SUBJECT_NAMES) bytes.set(name, await measureOne(name, task));
  return { what, cells: compareFigures(SUBJECT_NAMES, 'rollgate', (name) => bytes.get(name)!, whole) };
}

async function measureOne(name: SubjectName, task: BytesTask): Promise<number> {
  const worker = await Worker.start<BytesTask, number>('bytes-worker.ts', { args: [name], flags: ['--expose-gc'] });
  try {
    return await worker.run(task);
  } finally {
    await worker.stop();
  }
}
