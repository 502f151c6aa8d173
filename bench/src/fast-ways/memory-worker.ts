import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import { type Decision, MemoryStore, RateLimiter } from '@rollgate/core';
import { ManualClock } from '../algorithms/manual-clock.js';
import { type Algorithm, perMinute, WINDOW_MS } from '../limits.js';
import { ipv4Key } from '../subjects.js';
import { handleTasks } from '../worker.js';
import type { Way } from './ways.js';

export interface MemoryTask {
  readonly checksPerKey: number;
}

const KEYS = 1_000;
const LIMIT = 100;
/** Each key gets so many checks in each window, so that every check is allowed. */
const CHECKS_PER_WINDOW = 0.9 * LIMIT;

const [way, algorithm] = process.argv.slice(2) as [Way, Algorithm];
if (way === 'general') leaveOutFastWay();

const clock = new ManualClock();
const limiter = new RateLimiter({ limits: perMinute(algorithm, LIMIT), store: new MemoryStore({ clock }) });
const keys = Array.from({ length: KEYS }, (_, index) => ipv4Key(index));

/** Measures the nanoseconds per check. */
handleTasks(({ checksPerKey }: MemoryTask): number => {
  const start = performance.now();
  for (let time = 0; time < checksPerKey; time++) {
    clock.ms += WINDOW_MS / CHECKS_PER_WINDOW;
    for (const key of keys) {
      if (!(limiter.decide(key) as Decision).allowed) throw new Error('Expected all checks to be allowed');
    }
  }
  return ((performance.now() - start) * 1e6) / (checksPerKey * KEYS);
});

/** Replaces exports of compiled modules, because the package has no option for the slower way. */
function leaveOutFastWay(): void {
  const load = createRequire(import.meta.url);
  if (algorithm === 'rollingWindow') {
    const check: typeof import('../../../packages/core/src/memory/plain-window-check.js') = load(
      '../../../packages/core/dist/memory/plain-window-check.js',
    );
    const checkPlainWindow: typeof check.checkPlainWindow = () => undefined;
    Object.assign(check, { checkPlainWindow });
  } else {
    const { decide }: typeof import('../../../packages/core/src/engine/decide.js') = load(
      '../../../packages/core/dist/engine/decide.js',
    );
    const engine: typeof import('../../../packages/core/src/engine/decide-one.js') = load(
      '../../../packages/core/dist/engine/decide-one.js',
    );
    const decideOne: typeof engine.decideOne = (states, rule, key, cost, owner) =>
      decide(states, [{ rule, key }], cost, owner);
    Object.assign(engine, { decideOne });
  }
}
