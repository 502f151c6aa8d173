import { MemoryStore, RateLimiter } from '@rollgate/core';
import { usedBytes } from '../heap.js';
import { type Algorithm, perMinute, WINDOW_MS } from '../limits.js';
import { ipv4Key } from '../subjects.js';
import { answer } from '../worker.js';
import { LIMIT } from './columns.js';
import { ManualClock } from './manual-clock.js';

export interface BytesQuestion {
  readonly keyCount: number;
  readonly hitsPerKey: number;
}

const algorithm = process.argv[2] as Algorithm;

/** Bytes per key, its text included, after hits at even distances, as many in a window as the limit has units. */
answer(async ({ keyCount, hitsPerKey }: BytesQuestion): Promise<number> => {
  const clock = new ManualClock();
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({ limits: perMinute(algorithm, LIMIT), store });
  const before = usedBytes();
  for (let hit = 0; hit < hitsPerKey; hit++) {
    for (let index = 0; index < keyCount; index++) {
      const { allowed } = await limiter.check(ipv4Key(index));
      if (!allowed) throw new Error(`${algorithm} refused hit ${hit + 1} of ${hitsPerKey}`);
    }
    clock.ms += WINDOW_MS / LIMIT;
  }
  await new Promise(setImmediate);
  const bytes = usedBytes() - before;
  store.close(); // It must be there until here.
  return bytes / keyCount;
});
