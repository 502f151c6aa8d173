import { performance } from 'node:perf_hooks';
import { MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { ipv4Key } from './subjects.js';
import { answer } from './worker.js';

/** Checks of one limiter under a clock of its own. */
export interface ScalingQuestion {
  readonly limit: number;
  readonly keyCount: number;
  /** How many hits lie in each key's window; the limit, for a log that is full. */
  readonly hitsPerWindow: number;
  /** How often an action is tried for each hit that leaves the window: 1, all are allowed; 100, all but one are refused. */
  readonly triesPerHit: number;
  readonly checks: number;
}

const WINDOW_MS = 60_000;

/** Nanoseconds per check. */
answer(({ limit, keyCount, hitsPerWindow, triesPerHit, checks }: ScalingQuestion): number => {
  const clock = {
    ms: 1_000_000,
    now() {
      return this.ms;
    },
  };
  const store = new MemoryStore({ clock });
  const limiter = new RateLimiter({ limits: rollingWindow({ limit, window: WINDOW_MS }), store });
  const keys = Array.from({ length: keyCount }, (_, index) => ipv4Key(index));

  /** Tries each key in turn, `times` times, at even distances. How many were allowed. */
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
