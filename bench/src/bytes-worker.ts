import { flushPromises } from '@rollgate/test-support/flush-promises';
import { usedBytes } from './heap.js';
import { createSubject, ipv4Key, type SubjectName } from './subjects.js';
import { handleTasks } from './worker.js';

export interface BytesTask {
  readonly keyCount: number;
  readonly hitsPerKey: number;
}

const LIMIT = 100;
const name = process.argv[2] as SubjectName;

/** Measures the bytes per key, including its text. Each check creates the text of its key again, as each request does. */
handleTasks(async ({ keyCount, hitsPerKey }: BytesTask): Promise<number> => {
  const subject = createSubject(name, LIMIT, keyCount);
  const before = usedBytes();
  for (let hit = 0; hit < hitsPerKey; hit++) {
    for (let index = 0; index < keyCount; index++) {
      await subject.check(ipv4Key(index));
    }
  }
  await flushPromises();
  const bytes = usedBytes() - before;
  await subject.dispose([]); // Keeps the subject from being collected before this line.
  return bytes / keyCount;
});
