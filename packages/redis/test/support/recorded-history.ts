import type { CountingStore, Decision, Limit, Store } from '@rollgate/core';

type Core = typeof import('@rollgate/core');

/** The time at which the recorded history begins. */
export const START_MICROS = 1_795_000_000_123_457;

/** A store whose clock shows `now.micros`. */
export interface HistoryStore {
  readonly store: Store & CountingStore;
  readonly now: { micros: number };
}

/** The part of a decision that its reader depends on in every version. */
type Recorded = Pick<Decision, 'allowed' | 'limit' | 'remaining' | 'retryAfterMs' | 'resetMs' | 'delayMs'>;

/** What a build decided, by limit and then in order. `null` stands for `Infinity`, as in JSON. */
export type Decided = Readonly<Record<string, readonly unknown[]>>;

/** A limit of every algorithm, by the name that is also its prefix. */
function limitsOf(core: Core): Readonly<Record<string, Limit>> {
  const spaced = { limit: 10, window: '10s', minDifference: '5ms' } as const;
  return {
    rolling: core.rollingWindow({ limit: 10, window: '10s' }),
    'rolling-spaced': core.rollingWindow(spaced),
    'rolling-rejected': core.rollingWindow({ limit: 10, window: '10s', countRejected: true }),
    fixed: core.fixedWindow(spaced),
    counter: core.slidingWindowCounter(spaced),
    bucketed: core.bucketedWindow({ ...spaced, buckets: 20 }),
    token: core.tokenBucket({ capacity: 10, refill: 10, every: '10s', minDifference: '5ms' }),
    leaky: core.leakyBucket({ capacity: 10, interval: '1s' }),
    slots: core.concurrency({ limit: 10, lease: '30s' }),
  };
}

function toRecorded({ allowed, limit, remaining, retryAfterMs, resetMs, delayMs }: Decision): Recorded {
  return { allowed, limit, remaining, retryAfterMs, resetMs, delayMs };
}

/** Checks, settles, charges, refunds and resets, so that each kind of state and mark is left behind. */
export async function writeHistory(core: Core, { store, now }: HistoryStore): Promise<void> {
  for (const [prefix, limits] of Object.entries(limitsOf(core))) {
    now.micros = START_MICROS;
    const limiter = new core.RateLimiter({ limits, store, prefix });
    const check = async (key: string, cost = 1) => {
      now.micros += 250_007;
      return limiter.check(key, { cost });
    };
    for (let hit = 0; hit < 3; hit++) await check('ones');
    await check('costs', 3);
    const settled = await check('costs', 3);
    await check('costs');
    await limiter.settle(settled, { cost: 1 });
    await limiter.refund(await check('costs'));
    for (let hit = 0; hit < 12; hit++) await check('full');
    if (prefix !== 'slots') await limiter.charge('charged', { cost: 12 });
    await limiter.refund(await check('refunded'));
    await check('reset', 2);
    await limiter.reset('reset');
    await limiter.close();
  }
  now.micros = START_MICROS;
  const counter = new core.RollingCounter({ store });
  for (let units = 1; units < 6; units++) {
    now.micros += 4_000_003;
    await counter.add('counted', units);
  }
}

/** Continues with every key of {@link writeHistory}, and returns what is decided. */
export async function continueHistory(core: Core, { store, now }: HistoryStore): Promise<Decided> {
  const decided: Record<string, unknown[]> = {};
  for (const [prefix, limits] of Object.entries(limitsOf(core))) {
    const limiter = new core.RateLimiter({ limits, store, prefix });
    const decisions: unknown[] = [];
    for (const key of ['ones', 'costs', 'full', 'charged', 'refunded', 'reset']) {
      now.micros = START_MICROS + 7_000_011;
      for (const [cost, waitMicros] of [
        ...([
          [1, 900_001],
          [2, 1],
          [3, 1_700_003],
          [1, 5_300_009],
          [4, 20_000_003],
          [10, 1],
        ] as const),
      ]) {
        decisions.push(toRecorded(await limiter.peek(key)), toRecorded(await limiter.check(key, { cost })));
        now.micros += waitMicros;
      }
    }
    decided[prefix] = decisions;
    await limiter.close();
  }
  now.micros = START_MICROS + 30_000_011;
  const counter = new core.RollingCounter({ store });
  decided.count = [];
  for (const interval of ['10s', '20s', '1m'] as const) decided.count.push(await counter.count('counted', interval));
  decided.count.push(await counter.addCount('counted', '1m', 4));
  return JSON.parse(JSON.stringify(decided));
}
