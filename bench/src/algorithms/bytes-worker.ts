import { MemoryStore, RateLimiter } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { usedBytes } from '../heap.js';
import { type Algorithm, perMinute, WINDOW_MS } from '../limits.js';
import { ipv4Key } from '../subjects.js';
import { handleTasks } from '../worker.js';
import { LIMIT } from './columns.js';
import { ManualClock } from './manual-clock.js';

export interface BytesTask {
  readonly keyCount: number;
  readonly hitsPerKey: number;
}

const algorithm = process.argv[2] as Algorithm;

/** Measures the bytes per key, including its text, after evenly spread hits that use up the limit. */
handleTasks(async ({ keyCount, hitsPerKey }: BytesTask): Promise<number> => {
  const clock = new ManualClock();
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({ limits: perMinute(algorithm, LIMIT), store });
  const before = usedBytes();
  for (let hit = 0; hit < hitsPerKey; hit++) {
    for (let index = 0; index < keyCount; index++) {
      const { allowed } = await limiter.check(ipv4Key(index));
      if (!allowed)
        throw new Error(`Expected ${algorithm} to allow ${hitsPerKey} hits, got a rejection of hit ${hit + 1}`);
    }
    clock.ms += WINDOW_MS / LIMIT;
  }
  await flushPromises();
  const bytes = usedBytes() - before;
  store.close(); // Keeps the store from being collected before this line.
  return bytes / keyCount;
});
