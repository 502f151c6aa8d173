import { MemoryStore, manualClock } from '@rollgate/core';
import { effort } from '@rollgate/test-support/effort';
import { OutgoingLimiter, type Reported, reportedQuota } from '../src/outgoing';

/** An API that limits its clients, in virtual time. */
interface Remote {
  /** Returns whether the call is allowed, and what the response reports. */
  serve(nowMs: number, cost: number): { readonly allowed: boolean; readonly reported: Reported };
  /** The most units that it allows until then. */
  mostUntil(nowMs: number): number;
}

/** A window of the clock, as with GitHub and Discord. Resets are rounded up to multiples of `unitMs`. */
function windowOf(limit: number, windowMs: number, unitMs = 1): Remote {
  let [used, current] = [0, -1];
  return {
    serve(nowMs, cost) {
      const number = Math.floor(nowMs / windowMs);
      if (number !== current) [used, current] = [0, number];
      const allowed = used + cost <= limit;
      if (allowed) used += cost;
      const resetMs = Math.ceil(((number + 1) * windowMs - nowMs) / unitMs) * unitMs;
      return { allowed, reported: { remaining: limit - used, limit, resetMs } };
    },
    mostUntil: (nowMs) => (limit * nowMs) / windowMs,
  };
}

/** A bucket of tokens, as with OpenAI. */
function bucketOf(limit: number, windowMs: number): Remote {
  let [level, sinceMs] = [limit, 0];
  return {
    serve(nowMs, cost) {
      level = Math.min(limit, level + ((nowMs - sinceMs) * limit) / windowMs);
      sinceMs = nowMs;
      const allowed = cost <= level;
      if (allowed) level -= cost;
      const resetMs = ((limit - level) * windowMs) / limit;
      return { allowed, reported: { remaining: Math.floor(level), limit, resetMs, kind: 'refill' } };
    },
    mostUntil: (nowMs) => limit + (limit * nowMs) / windowMs,
  };
}

interface Traffic {
  readonly remote: Remote;
  readonly workers: number;
  readonly seconds: number;
  readonly cost?: (random: () => number) => number;
  /** The estimated cost of a call, compared with the actual one. */
  readonly estimate?: number;
  /** How long a response takes at most. Responses overtake each other. */
  readonly lateMs?: number;
  readonly guess?: number;
}

/** Lets workers of several limiters on one store call the remote as often as they may. */
async function run({ remote, workers, seconds, cost = () => 1, estimate = 1, lateMs = 40, guess = 1 }: Traffic) {
  const clock = manualClock(1e6);
  const store = new MemoryStore({ clock });
  const limits = reportedQuota({ lease: '1m', guess, retryAfter: 20 });
  let [nowMs, seed, allowedUnits, rejections] = [0, 1, 0, 0];
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
  const queue: { atMs: number; act: () => unknown }[] = [];
  const after = (ms: number, act: () => unknown) => void queue.push({ atMs: nowMs + ms, act });
  for (let worker = 0; worker < workers; worker++) {
    const limiter = new OutgoingLimiter({ limits, store });
    const attempt = async (units: number): Promise<void> => {
      const decision = await limiter.check('token', { cost: Math.ceil(units * estimate) });
      if (!decision.allowed) return after(decision.retryAfterMs + random(), () => attempt(units));
      after(10 + 30 * random(), () => {
        const { allowed, reported } = remote.serve(nowMs, units);
        if (allowed) allowedUnits += units;
        else rejections += 1;
        after(10 + (lateMs - 10) * random() * random(), async () => {
          await limiter.report(decision, { reported });
          await attempt(allowed ? cost(random) : units);
        });
      });
    };
    after(50 * random(), () => attempt(cost(random)));
  }
  for (;;) {
    const next = queue.reduce((first, one) => (one.atMs < first.atMs ? one : first));
    queue.splice(queue.indexOf(next), 1);
    if (next.atMs > seconds * 1000) return { rejections, used: allowedUnits / remote.mostUntil(seconds * 1000) };
    clock.advance(next.atMs - nowMs);
    nowMs = next.atMs;
    await next.act();
  }
}

const tokens = (random: () => number) => 200 + Math.floor(1800 * random());
const openAi = { workers: 16, seconds: 60 * effort(1, 10), cost: tokens, guess: 4000 };
const gitHub = { workers: 64, seconds: 18 * effort(1, 10) };

test.each<[name: string, leastUsed: number, traffic: () => Traffic]>([
  ['a window of 600 calls', 0.99, () => ({ ...gitHub, remote: windowOf(600, 6000) })],
  [
    'responses that are up to 2 s late',
    0.99,
    () => ({ ...gitHub, workers: 256, remote: windowOf(600, 6000), lateMs: 2000 }),
  ],
  ['resets in whole seconds', 0.8, () => ({ ...gitHub, remote: windowOf(600, 6000, 1000) })],
  ['a window of 5 calls', 0.99, () => ({ workers: 16, seconds: 30, remote: windowOf(5, 1000) })],
  ['a bucket of tokens', 0.98, () => ({ ...openAi, remote: bucketOf(90_000, 60_000) })],
  [
    'a bucket of tokens and estimates twice as high',
    0.95,
    () => ({ ...openAi, estimate: 2, remote: bucketOf(90_000, 60_000) }),
  ],
  [
    'a bucket of tokens and late responses',
    0.95,
    () => ({ ...openAi, lateMs: 2000, remote: bucketOf(90_000, 60_000) }),
  ],
])('the remote rejects no call, and its quota is used: %s', async (_, leastUsed, traffic) => {
  const { rejections, used } = await run(traffic());
  expect(rejections).toBe(0);
  expect(used).toBeGreaterThanOrEqual(leastUsed);
});
