import { performance } from 'node:perf_hooks';
import { type Decision, MemoryStore, RateLimiter } from '@rollgate/core';
import { type Algorithm, perMinute, WINDOW_MS } from '../limits.js';
import { ipv4Key } from '../subjects.js';
import { handleTasks } from '../worker.js';
import { HITS_PER_WINDOW, LIMIT } from './columns.js';
import { ManualClock } from './manual-clock.js';

export interface TimeTask {
  /** How often to check each key, and how often in a row before a pause. */
  readonly checksPerKey: number;
  readonly bunch: number;
}

const KEYS = 1_000;

const algorithm = process.argv[2] as Algorithm;
const keys = Array.from({ length: KEYS }, (_, index) => ipv4Key(index));

/** Measures the nanoseconds per allowed check. */
handleTasks(({ checksPerKey, bunch }: TimeTask): number => {
  const clock = new ManualClock();
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({ limits: perMinute(algorithm, LIMIT), store });

  function cycle(times: number): void {
    for (let time = 0; time < times; time++) {
      if (time % bunch === 0) clock.ms += (WINDOW_MS / HITS_PER_WINDOW) * bunch;
      for (const key of keys) {
        if (!(limiter.decide(key) as Decision).allowed)
          throw new Error(`Expected ${algorithm} to allow all checks, got a rejection`);
      }
    }
  }

  cycle(2 * HITS_PER_WINDOW); // Fills the window and the one before it.
  globalThis.gc!();
  const start = performance.now();
  cycle(checksPerKey);
  const ns = ((performance.now() - start) * 1e6) / (checksPerKey * KEYS);
  store.close();
  return ns;
});
