import { usedBytes } from './heap.js';
import { createSubject, ipv4Key, type SubjectName } from './subjects.js';
import { answer } from './worker.js';

export interface BytesQuestion {
  readonly keyCount: number;
  readonly hitsPerKey: number;
}

const LIMIT = 100;
const name = process.argv[2] as SubjectName;

/** Bytes per key, the text of the key included: each check comes with a text of its own, as each request does. */
answer(async ({ keyCount, hitsPerKey }: BytesQuestion): Promise<number> => {
  const subject = createSubject(name, LIMIT, keyCount);
  const before = usedBytes();
  for (let hit = 0; hit < hitsPerKey; hit++) {
    for (let index = 0; index < keyCount; index++) {
      await subject.check(ipv4Key(index));
    }
  }
  await new Promise(setImmediate);
  const bytes = usedBytes() - before;
  await subject.dispose([]); // It must be there until here.
  return bytes / keyCount;
});
