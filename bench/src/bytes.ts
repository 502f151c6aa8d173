import type { BytesTask } from './bytes-worker.js';
import type { Effort } from './effort.js';
import { type InMemory, SUBJECT_NAMES, type SubjectName, subjectHeaders } from './subjects.js';
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
  const bytes = await bytesOfEach(SUBJECT_NAMES, task);
  return { what, cells: compareFigures(SUBJECT_NAMES, 'rollgate', (name) => bytes[name], whole) };
}

/** Measures each of the subjects, in a new process. */
export async function bytesOfEach<Name extends InMemory>(
  names: readonly Name[],
  task: BytesTask,
): Promise<Record<Name, number>> {
  const bytes: Partial<Record<Name, number>> = {};
  for (const name of names) {
    const options = { args: [name], flags: ['--expose-gc'] };
    await using worker = await Worker.start<BytesTask, number>('bytes-worker.ts', options);
    bytes[name] = await worker.run(task);
  }
  return bytes as Record<Name, number>;
}
