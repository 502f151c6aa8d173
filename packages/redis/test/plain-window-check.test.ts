import assert from 'node:assert/strict';
import { type Decision, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { randomRuns } from '@rollgate/test-support/effort';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import fc from 'fast-check';
import { expiryOf } from './support/expiry.js';
import { PrivateRedis } from './support/private-redis.js';
import { createScriptEditingClient, replaceParts } from './support/script-editing-client.js';
import { freshPrefix } from './support/some-redis.js';

silenceOutages();

const redis = PrivateRedis.forThisFile();

/** Its scripts decide every check in the general form. */
const createGeneralClient = () => {
  return createScriptEditingClient(
    redis.connect(),
    replaceParts(['  if true then\n    repeat', '  if false then\n    repeat']),
  );
};

const PLANS = [
  [{ limit: 5, window: 100 }],
  [{ limit: 40, window: 1000 }],
  [{ limit: 120, window: 5000 }],
  [{ limit: 400, window: 2000 }],
  [
    { limit: 9, window: 90 },
    { limit: 60, window: 1000 },
  ],
  [
    { limit: 50, window: 3000 },
    { limit: 20, window: 200 },
    { limit: 3, window: 11 },
  ],
];

/** How far time advances, as a multiple of the time between two hits that use up the tightest limit. */
const pace = fc.oneof(
  { weight: 14, arbitrary: fc.double({ min: 0, max: 0.5, noNaN: true }) },
  { weight: 6, arbitrary: fc.double({ min: 0, max: 4, noNaN: true }) },
  { weight: 12, arbitrary: fc.constantFrom(0, 1, 2) }, // So hits often leave exactly at the time of a check.
  { weight: 1, arbitrary: fc.double({ min: -1, max: 300, noNaN: true }) },
);
const key = fc.constantFrom('ann', 'bob', 'ann and bob');
const PLAIN = fc.oneof(
  { weight: 40, arbitrary: fc.constant(1) },
  { weight: 1, arbitrary: fc.integer({ min: 2, max: 4 }) },
);
const WEIGHTED = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 12 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 500 }) },
);
/** Of several limits, the first one counts requests and the others their costs. The costs of a single limit are those of the second. */
const BUDGET = fc
  .tuple(fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 0, 2), WEIGHTED, fc.oneof({ weight: 9, arbitrary: WEIGHTED }, PLAIN))
  .map((costs) => costs as readonly number[]);
const operationOf = (cost: fc.Arbitrary<number | readonly number[]>) =>
  fc.oneof(
    { weight: 20, arbitrary: fc.record({ kind: fc.constant('check'), key, cost, times: fc.integer({ min: 1, max: 12 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('refund'), back: fc.nat(40) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset'), key }) },
  ); // biome-ignore format: a table
const historyOf = (cost: fc.Arbitrary<number | readonly number[]>) =>
  fc.array(fc.record({ pace, operation: operationOf(cost) }), { minLength: 20, maxLength: 100, size: 'max' });
const history = fc.oneof(historyOf(PLAIN), historyOf(WEIGHTED), historyOf(BUDGET));

test('the check of plain windows decides as the general one does, and leaves the same bytes', async () => {
  const client = redis.connect();
  let nowMs = 1e12;
  const clock = { now: () => nowMs };
  const options = { clock, denialCache: false } as const;
  const stores = [
    new RedisStore({ client, ...options }),
    new RedisStore({ client: createGeneralClient(), ...options }),
    new MemoryStore({ clock }),
  ];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...PLANS), history, async (plan, steps) => {
      const prefixes = stores.map(() => freshPrefix());
      const limits = Object.fromEntries(plan.map((settings, index) => [`limit${index}`, rollingWindow(settings)]));
      const limiters = stores.map(
        (store, index) => new RateLimiter({ limits, store, prefix: prefixes[index]!, timeout: '30s' }),
      );
      const paceMs = Math.min(...plan.map(({ limit, window }) => window / limit));
      const past: Decision[][] = [];
      for (const { pace, operation } of steps) {
        nowMs = Math.round((nowMs + pace * paceMs) * 1000) / 1000;
        if (operation.kind === 'reset') {
          await Promise.all(limiters.map((limiter) => limiter.reset(operation.key.split(' and ')[0]!)));
        } else if (operation.kind === 'refund') {
          const decisions = past.splice(-1 - operation.back, 1)[0] ?? [];
          await Promise.all(decisions.map((decision, index) => limiters[index]!.refund(decision)));
        } else {
          const { key, times } = operation;
          const cost = costFor(plan.length, operation.cost);
          const keys = key.split(' and ');
          const checks = Array.from({ length: times }, (_, index) =>
            Promise.all(limiters.map((limiter) => limiter.check(keys[index % keys.length]!, { cost }))),
          );
          for (const decisions of await Promise.all(checks)) {
            const [plain, general, inMemory] = decisions.map((decision) => ({ ...decision, limits: { ...decision.limits } })); // biome-ignore format: short
            assert.deepEqual(plain, inMemory);
            assert.deepEqual(general, inMemory);
            past.push(decisions);
          }
        }
        for (const name of Object.keys(limits)) {
          for (const key of ['ann', 'bob']) {
            const [plain, general] = await Promise.all(
              prefixes.slice(0, 2).map((prefix) => client.getBuffer(`${prefix}:{${key}}:${name}`)),
            );
            // Each store stamps a new log with the server's time, which is in 7 bytes of the description.
            assert.equal(withoutStamp(plain!), withoutStamp(general!));
          }
        }
      }
    }),
    {
      ...randomRuns(18, 600), // The examples are among them.
      // The second of three hits, and the only hit, leave exactly at the time of a check.
      examples: [
        [PLANS[0]!, [0, 1, 1, 4].map((pace) => checkAfter(pace))],
        [PLANS[0]!, [0, 5].map((pace) => checkAfter(pace))],
        // A long log drops its oldest hit at each check, and is rewritten without the dropped ones.
        [PLANS[1]!, new Array<number>(80).fill(1).map((pace) => checkAfter(pace))],
        // The same with another cost. Each check uses what the dropped hit has freed.
        [PLANS[1]!, new Array<number>(80).fill(2).map((pace) => checkAfter(pace, 2))],
        [PLANS[3]!, new Array<number>(160).fill(5).map((pace, index) => checkAfter(pace, 1 + (index % 9)))],
        // A log with totals begins again after its window, for a plain hit and for another one.
        [PLANS[0]!, [0, 1, 5, 6, 1].map((pace, index) => checkAfter(pace, index === 2 ? 1 : 2))],
        // Of several limits, a hit with a cost goes before plain ones, and leaves before they do.
        [PLANS[4]!, new Array<number>(30).fill(1).map((pace, index) => checkAfter(pace, index % 4 === 0 ? 2 : 1))],
        // Of several limits, the first counts requests and the others units. The first, the second and the last one reject.
        [PLANS[4]!, new Array<number>(60).fill(0.5).map((pace) => checkAfter(pace, [1, 3, 1]))],
        [PLANS[4]!, new Array<number>(60).fill(1).map((pace, index) => checkAfter(pace, [1, 1 + (index % 9), 1]))],
        [PLANS[5]!, new Array<number>(40).fill(2).map((pace, index) => checkAfter(pace, [4, 1 + (index % 2), 1]))],
        // All limits have the same cost.
        [PLANS[4]!, new Array<number>(60).fill(2).map((pace) => checkAfter(pace, 2))],
        // Of several limits, the first, the second and the last one reject.
        [PLANS[4]!, new Array<number>(80).fill(0.5).map((pace) => checkAfter(pace))],
        [PLANS[5]!, new Array<number>(60).fill(0.9).map((pace) => checkAfter(pace))],
      ],
    },
  );
});

function checkAfter(pace: number, cost: number | readonly number[] = 1) {
  return { pace, operation: { kind: 'check', key: 'ann', cost, times: 1 } as const };
}

/** Returns the cost as the limiter of a plan with so many limits takes it. */
function costFor(count: number, cost: number | readonly number[]): number | Record<string, number> {
  if (typeof cost === 'number') return cost;
  if (count === 1) return cost[1]!;
  return Object.fromEntries(cost.slice(0, count).map((own, index) => [`limit${index}`, own]));
}

test('units that a far settlement has returned are free for the next check', async () => {
  const clock = { ms: 1e12, now: () => clock.ms };
  const stores = [new RedisStore({ client: redis.connect(), clock, denialCache: false }), new MemoryStore({ clock })];
  const limits = rollingWindow({ limit: 2000, window: '1h' });
  const remaining = await Promise.all(
    stores.map(async (store) => {
      const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
      const first = await limiter.check('ann', { cost: 9 });
      for (let hit = 0; hit < 600; hit++) await limiter.check('ann', { cost: 2 });
      await limiter.settle(first, { cost: 5 }); // Behind so many hits it leaves a gap.
      return (await limiter.check('ann', { cost: 2 })).remaining;
    }),
  );
  expect(remaining).toEqual([793, 793]);
});

test.each([0, 1])('a hit by another clock keeps a key long enough after %d refunds', async (refunds) => {
  const client = redis.connect();
  const prefix = freshPrefix();
  const [injected, ofServer] = [{ clock: { now: () => Date.now() - 1 } }, {}].map((options) => {
    const store = new RedisStore({ client, denialCache: false, ...options });
    return new RateLimiter({ limits: rollingWindow({ limit: 9, window: '40d' }), store, prefix, timeout: '30s' });
  });
  const halfMs = 20 * 86_400_000;
  await injected!.check('ann');
  const [refunded] = await Promise.all(Array.from({ length: refunds }, () => injected!.check('ann')));
  if (refunded) await injected!.refund(refunded);
  await ofServer!.check('ann');
  // The TTL stays for all hits of half a window, so it is long enough for the last of them.
  const halfEndMs = (Math.floor(Date.now() / halfMs) + 1) * halfMs;
  expect(await expiryOf(client, `${prefix}:{ann}:default`)).toBeGreaterThanOrEqual(halfEndMs + 2 * halfMs);
});

test('a check that fails halfway is not repeated', async () => {
  const client = redis.connect();
  const prefix = freshPrefix();
  const store = new RedisStore({ client, clock: { now: () => 1e12 }, denialCache: false });
  const limits = rollingWindow({ limit: 99, window: '1h' });
  const limiter = new RateLimiter({ limits, store, prefix, timeout: '30s', onStoreError: 'throw' });
  for (let hit = 0; hit < 30; hit++) await limiter.check('ann');
  // The server then writes the hit, but cannot set the TTL, which a short log gets by the same command.
  await redis.server.run('ACL', 'SETUSER', 'default', '-pexpire');
  try {
    await expect(limiter.check('ann')).rejects.toThrow(/can't run this command|no permissions to run/);
  } finally {
    await redis.server.run('ACL', 'SETUSER', 'default', '+pexpire');
  }
  expect((await limiter.peek('ann')).remaining).toBe(68);
});

function withoutStamp(bytes: Buffer | null): string | undefined {
  if (bytes === null) return undefined;
  return Buffer.from(bytes)
    .fill(0, bytes.length - 25, bytes.length - 18)
    .toString('hex');
}
