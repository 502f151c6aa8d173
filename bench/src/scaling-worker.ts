import { performance } from 'node:perf_hooks';
import { MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { ipv4Key } from './subjects.js';
import { handleTasks } from './worker.js';

/** Checks of one limiter by its own clock. */
export interface ScalingTask {
  readonly limit: number;
  readonly keyCount: number;
  /** How many hits each key's window contains. For a full log, this is the limit. */
  readonly hitsPerWindow: number;
  /** How many checks to make for each hit that leaves the window. With 1 all are allowed, with 100 all but one are rejected. */
  readonly triesPerHit: number;
  readonly checks: number;
}

const WINDOW_MS = 60_000;

/** Measures the nanoseconds per check. */
handleTasks(({ limit, keyCount, hitsPerWindow, triesPerHit, checks }: ScalingTask): number => {
  const clock = {
    ms: 1_000_000,
    now() {
      return this.ms;
    },
  };
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: WINDOW_MS }), store });
  const keys = Array.from({ length: keyCount }, (_, index) => ipv4Key(index));

  /** Checks each key in turn, `times` times, at even intervals. Returns how many checks were allowed. */
  function cycle(times: number, stepMs: number): number {
    let allowed = 0;
    for (let time = 0; time < times; time++) {
      clock.ms += stepMs;
      for (const key of keys) if ((limiter.decide(key) as { allowed: boolean }).allowed) allowed++;
    }
    return allowed;
  }

  const hitMs = WINDOW_MS / hitsPerWindow;
  const times = Math.ceil(checks / keyCount);
  cycle(hitsPerWindow, hitMs);
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
