import { performance } from 'node:perf_hooks';
import { type Decision, MemoryStore, RateLimiter } from '@rollgate/core';
import { type Algorithm, createLimit, WINDOW_MS } from './limits.js';
import { ManualClock } from './manual-clock.js';
import { ipv4Key } from './subjects.js';
import { handleTasks } from './worker.js';

/** Checks of one limiter by its own clock. */
export interface DecideTask {
  readonly algorithm: Algorithm;
  readonly limit: number;
  readonly keyCount: number;
  /** How many hits each key's window contains. For a full log, this is the limit. */
  readonly hitsPerWindow: number;
  /** How many checks to make for each hit that leaves the window. With 1 all are allowed, with 100 all but one are rejected. */
  readonly triesPerHit: number;
  /** How many hits of a key come at once. @defaultValue `1` */
  readonly bunch?: number;
  readonly checks: number;
}

/** Measures the nanoseconds per check. */
handleTasks((task: DecideTask): number => {
  const { algorithm, limit, keyCount, hitsPerWindow, triesPerHit, bunch = 1, checks } = task;
  const clock = new ManualClock();
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({ limits: createLimit(algorithm, limit), store });
  const keys = Array.from({ length: keyCount }, (_, index) => ipv4Key(index));

  /** Checks each key in turn, `times` times, at even intervals. Returns how many checks were allowed. */
  function cycle(times: number, stepMs: number): number {
    let allowed = 0;
    for (let time = 0; time < times; time++) {
      if (time % bunch === 0) clock.ms += stepMs * bunch;
      for (const key of keys) if ((limiter.decide(key) as Decision).allowed) allowed++;
    }
    return allowed;
  }

  const hitMs = WINDOW_MS / hitsPerWindow;
  const times = Math.ceil(checks / keyCount);
  cycle(2 * hitsPerWindow, hitMs); // Fills the window and the one before it.
  cycle(Math.ceil(times / 10), hitMs / triesPerHit);
  globalThis.gc!();
  const start = performance.now();
  const allowed = cycle(times, hitMs / triesPerHit);
  const ns = ((performance.now() - start) * 1e6) / (times * keyCount);
  expectShare(allowed / (times * keyCount), 1 / triesPerHit);
  store.close();
  return ns;
});

function expectShare(allowed: number, expected: number): void {
  if (Math.abs(allowed - expected) < 0.01) return;
  throw new Error(`Expected ${100 * expected} % of the checks to be allowed, got ${100 * allowed} %`);
}
