import { type Decision, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import fc from 'fast-check';
import { type NaiveDecision, type NaiveLimit, NaiveLog, type NaiveReceipt } from './naive-log.js';

const MS = 1000;

const limit: fc.Arbitrary<NaiveLimit> = fc.record({
  limit: fc.integer({ min: 1, max: 5 }),
  window: fc.integer({ min: 1, max: 12 }).map((ms) => ms * MS),
  minDifference: fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    fc.integer({ min: 1, max: 15 }).map((ms) => ms * MS),
  ),
  countRejected: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
});

const limits: fc.Arbitrary<Record<string, NaiveLimit>> = fc.oneof(
  limit.map((one) => ({ one })),
  fc.record({ one: limit, two: limit }),
  fc.record({ one: limit, two: limit, three: limit }),
);

/** Steps that meet the boundaries of windows of whole milliseconds often, and one microsecond beside them. */
const forwards = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 4 }).map((ms) => ms * MS) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 12 * MS + 1 }) },
  { weight: 2, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.constantFrom(1e12, 40 * 24 * 3600 * 1000 * MS) },
);

const anywhere = fc.oneof(
  { weight: 8, arbitrary: forwards },
  { weight: 2, arbitrary: fc.integer({ min: -15 * MS, max: 0 }) },
  { weight: 2, arbitrary: fc.integer({ min: -30, max: 0 }).map((ms) => ms * MS) },
  { weight: 1, arbitrary: fc.constant(-1e12) },
);

const cost = fc.oneof({ weight: 4, arbitrary: fc.constant(1) }, fc.integer({ min: 1, max: 7 }));

const commands = (limits: fc.Arbitrary<Record<string, NaiveLimit>>, names: string[], step: fc.Arbitrary<number>) => {
  const key = fc.constantFrom(...names);
  const keys = fc.tuple(key, key, key);
  const command = fc.oneof(
    { weight: 10, arbitrary: fc.record({ kind: fc.constant('check' as const), keys, cost, step }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('peek' as const), keys, cost, step }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('refund' as const), which: fc.nat(), step }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const), keys, step }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('change' as const), limits, step }) },
  );
  return fc.array(command, { maxLength: 60 });
};

function toLimits(naive: Record<string, NaiveLimit>) {
  return Object.fromEntries(
    Object.entries(naive).map(([name, { limit, window, minDifference, countRejected }]) => [
      name,
      rollingWindow({
        limit,
        window: window / MS,
        countRejected,
        minDifference: minDifference === 0 ? undefined : minDifference / MS,
      }),
    ]),
  );
}

function keysFor(naive: Record<string, NaiveLimit>, [one, two, three]: readonly [string, string, string]) {
  const all: Record<string, string> = { one, two, three };
  return Object.fromEntries(Object.keys(naive).map((name) => [name, all[name]!]));
}

/** The whole decision that follows from what the naive log says of each limit. */
function expected({ allowed, violated, limits }: NaiveDecision) {
  const byName = Object.fromEntries(
    Object.entries(limits).map(([name, said]) => [
      name,
      {
        allowed: said.allowed,
        limit: said.limit,
        remaining: said.remaining,
        retryAfterMs: said.retryAfter / MS,
        resetMs: said.reset / MS,
        delayMs: 0,
      },
    ]),
  );
  const candidates = Object.values(byName).filter((said) => allowed || !said.allowed);
  const [speaking] = candidates.toSorted((a, b) =>
    allowed
      ? a.remaining - b.remaining || b.resetMs - a.resetMs
      : (a.retryAfterMs === b.retryAfterMs ? 0 : b.retryAfterMs - a.retryAfterMs) || b.resetMs - a.resetMs,
  );
  return {
    allowed,
    limit: speaking!.limit,
    remaining: speaking!.remaining,
    retryAfterMs: Math.max(...Object.values(byName).map((said) => said.retryAfterMs)),
    resetMs: speaking!.resetMs,
    delayMs: 0,
    violated,
    limits: byName,
    degraded: false,
  };
}

const one = limit.map((numbers) => ({ one: numbers }));

// Time that runs back shows whether an expired key has been swept already, which depends on the other keys; so with
// several keys it only runs forwards.
test.each([
  ['several limits and keys', limits, ['ann', 'bob'], forwards],
  ['one limit and key, and time that jumps and runs back', one, ['ann'], anywhere],
] as const)(
  'every decision is the naive log’s, every wait true to the microsecond: %s',
  async (_, limits, names, step) => {
    await fc.assert(
      fc.asyncProperty(limits, commands(limits, [...names], step), async (startLimits, commands) => {
        let now = 1e9 * MS;
        let naiveLimits = startLimits;
        let realLimits = toLimits(naiveLimits);
        const limiter = new RateLimiter({
          limits: realLimits,
          store: new MemoryStore({ clock: { now: () => now / MS } }),
        });
        const naive = new NaiveLog();
        const made: { decision: Decision; receipt: NaiveReceipt }[] = [];
        for (const command of commands) {
          now += command.step;
          if (command.kind === 'change') {
            naiveLimits = command.limits;
            realLimits = toLimits(naiveLimits);
          } else if (command.kind === 'refund') {
            const past = made[command.which % made.length];
            if (past === undefined) continue;
            await limiter.refund(past.decision);
            naive.refund(past.receipt);
          } else if (command.kind === 'reset') {
            const keys = keysFor(naiveLimits, command.keys);
            await limiter.reset(keys, { limits: realLimits });
            naive.reset(Object.keys(naiveLimits), keys);
          } else {
            const keys = keysFor(naiveLimits, command.keys);
            const options = { cost: command.cost, limits: realLimits };
            const decision = await limiter[command.kind](keys, options);
            const truth = naive.check(naiveLimits, keys, command.cost, now, command.kind === 'check');
            expect(decision).toEqual(expected(truth.decision));
            if (command.kind === 'check') made.push({ decision, receipt: truth.receipt });
            if (!decision.allowed && decision.retryAfterMs < Infinity) {
              const asked = now;
              now = asked + Math.round(decision.retryAfterMs * MS) - 1;
              expect((await limiter.peek(keys, options)).allowed).toBe(false);
              now += 1;
              expect((await limiter.peek(keys, options)).allowed).toBe(true);
              now = asked;
            }
          }
        }
      }),
      { numRuns: 2000 },
    );
  },
);

test('no window of admitted actions holds more than the limit, and none is refused that had room', async () => {
  const pace = fc.oneof(fc.integer({ min: 0, max: 3000 }), fc.integer({ min: 0, max: 200 }));
  await fc.assert(
    fc.asyncProperty(limit, fc.array(pace, { maxLength: 200 }), async (numbers, steps) => {
      const { limit, window } = numbers;
      let now = 0;
      const limiter = new RateLimiter({
        limits: rollingWindow({ limit, window: window / MS }),
        store: new MemoryStore({ clock: { now: () => now / MS } }),
      });
      const admitted: number[] = [];
      for (const step of steps) {
        now += step;
        const hasRoom = admitted.filter((time) => time > now - window).length < limit;
        const { allowed } = await limiter.check('ann');
        expect(allowed).toBe(hasRoom);
        if (allowed) admitted.push(now);
      }
      for (let index = 0; index + limit < admitted.length; index++) {
        expect(admitted[index + limit]! - admitted[index]!).toBeGreaterThanOrEqual(window);
      }
    }),
  );
});

test('a refused check changes no state', async () => {
  let now = 0;
  const store = new MemoryStore({ clock: { now: () => now } });
  const limiter = new RateLimiter({
    limits: { wide: rollingWindow({ limit: 9, window: 1000 }), narrow: rollingWindow({ limit: 2, window: 900 }) },
    store,
  });
  for (now of [0, 100]) await limiter.check('ann', { cost: 1 });
  now = 950; // The narrow limit's first hit has left its window, so a tidier store would be tempted to drop it.
  const before = JSON.stringify(store);
  expect(JSON.parse(before)).toHaveLength(2);
  for (now of [950, 960, 999]) {
    expect((await limiter.check('ann', { cost: 2 })).allowed).toBe(false);
    expect((await limiter.check({ wide: 'new', narrow: 'ann' }, { cost: 2 })).violated).toEqual(['narrow']);
    expect(JSON.stringify(store)).toBe(before);
  }
});

test.each([1, 2, 10, 1000])(
  'at limit %d the boundary lies exactly at the window, and one unit either side',
  async (limit) => {
    for (const [offset, allowed] of [
      [-0.001, false],
      [0, true],
      [0.001, true],
    ] as const) {
      let now = 12_345;
      const limiter = new RateLimiter({
        limits: rollingWindow({ limit, window: '1m' }),
        store: new MemoryStore({ clock: { now: () => now } }),
      });
      for (let hit = 0; hit < limit; hit++) expect((await limiter.check('ann')).allowed).toBe(true);
      now = 72_345 + offset;
      const decision = await limiter.check('ann');
      expect(decision.allowed).toBe(allowed);
      expect(decision.retryAfterMs).toBe(allowed ? 0 : 0.001);
    }
  },
);
