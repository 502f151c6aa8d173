import { flushPromises } from '@rollgate/test-support/flush-promises';
import { usedBytes } from './heap.js';
import { WINDOW_MS } from './limits.js';
import { ManualClock } from './manual-clock.js';
import { createSubject, type InMemory, ipv4Key } from './subjects.js';
import { handleTasks } from './worker.js';

export interface BytesTask {
  readonly keyCount: number;
  readonly hitsPerKey: number;
}

const LIMIT = 100;

const name = process.argv[2] as InMemory;

/**
 * Measures the bytes per key, including its text, after hits that use up the limit. Those of Rollgate's algorithms are spread
 * evenly over a window. Each check creates the text of its key again, as each request does.
 */
handleTasks(async ({ keyCount, hitsPerKey }: BytesTask): Promise<number> => {
  const clock = new ManualClock();
  const subject = createSubject(name, { limit: LIMIT, keyCount, clock });
  const before = usedBytes();
  for (let hit = 0; hit < hitsPerKey; hit++) {
    for (let index = 0; index < keyCount; index++) {
      if (subject.isRejection(await subject.check(ipv4Key(index))))
        throw new Error(`Expected ${name} to allow ${hitsPerKey} hits, got a rejection of hit ${hit + 1}`);
    }
    clock.ms += WINDOW_MS / LIMIT;
  }
  await flushPromises();
  const bytes = usedBytes() - before;
  await subject.dispose([]); // Keeps the subject from being collected before this line.
  return bytes / keyCount;
});
