// The built packages of the workspace, because the site has its own dependencies.
import * as core from '../../packages/core/dist/index.js';

const WINDOW_MS = 10_000;
const LIMIT = 4;

/** The times of the requests in milliseconds: a burst on each side of a full window of the clock, then steady traffic. */
const REQUESTS = [
  ...[7000, 7600, 8200, 8800, 9400],
  ...[10_400, 11_000, 11_600, 12_200, 12_800],
  ...Array.from({ length: 15 }, (_, index) => 14_500 + index * 1000),
];

/** One limit of each algorithm, four requests per ten seconds. */
export const LIMITS = {
  'rolling-window': core.rollingWindow({ limit: LIMIT, window: WINDOW_MS }),
  'bucketed-window': core.bucketedWindow({ limit: LIMIT, window: WINDOW_MS, buckets: 5 }),
  'sliding-window-counter': core.slidingWindowCounter({ limit: LIMIT, window: WINDOW_MS }),
  'fixed-window': core.fixedWindow({ limit: LIMIT, window: WINDOW_MS }),
  'token-bucket': core.tokenBucket({ capacity: LIMIT, refill: LIMIT, every: WINDOW_MS }),
  'leaky-bucket': core.leakyBucket({ capacity: LIMIT, interval: WINDOW_MS / LIMIT }),
};

/** Returns a function that asks a real limiter at a time. */
export function checkBy(limits) {
  const clock = core.manualClock();
  const limiter = new core.RateLimiter({ limits, store: new core.MemoryStore({ clock }) });
  return (atMs) => {
    clock.advance(atMs - clock.now());
    return limiter.check('client');
  };
}

/**
 * What a limiter decides about requests: `{ atMs, allowed, startMs, isBeyond }` for each. Those of a queue count when they
 * leave it.
 */
export async function decide(check, times = REQUESTS, { limit, windowMs } = { limit: LIMIT, windowMs: WINDOW_MS }) {
  const decided = [];
  for (const atMs of times) {
    const { allowed, delayMs = 0 } = await check(atMs);
    const startMs = atMs + delayMs;
    const inWindow = decided.filter((each) => each.allowed && each.startMs > startMs - windowMs).length;
    decided.push({ atMs, allowed, startMs, isBeyond: allowed && inWindow >= limit });
  }
  return decided;
}

/** Actions of two seconds with two slots, as `{ atMs, allowed, slot, endMs }`. */
export async function decideConcurrency() {
  const limiter = new core.RateLimiter({ limits: core.concurrency({ limit: 2, lease: '30s' }) });
  const running = [];
  const decided = [];
  for (const [index, atMs] of REQUESTS.entries()) {
    for (const done of running.filter(({ endMs }) => endMs <= atMs)) {
      await limiter.release(done.decision);
      running.splice(running.indexOf(done), 1);
    }
    const decision = await limiter.check('client');
    const endMs = atMs + 1500 + (index % 3) * 1000;
    const slot = running.some((each) => each.slot === 0) ? 1 : 0;
    if (decision.allowed) running.push({ endMs, slot, decision });
    decided.push({ atMs, allowed: decision.allowed, slot, endMs });
  }
  await limiter.close();
  return decided;
}
