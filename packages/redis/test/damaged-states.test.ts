import assert from 'node:assert/strict';
import { calendarWindow } from '@rollgate/calendar';
import {
  concurrency,
  type Decision,
  type Limit,
  RateLimiter,
  RollingCounter,
  rollingWindow,
  StoreError,
} from '@rollgate/core';
import { reportedQuota } from '@rollgate/fetch/outgoing';
import { RedisStore } from '@rollgate/redis';
import { effort, seed } from '@rollgate/test-support/effort';
import { limitOfEach } from '@rollgate/test-support/limit-of-each';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import fc from 'fast-check';
import { PrivateRedis } from './support/private-redis.js';
import { freshPrefix, LOGS } from './support/some-redis.js';

silenceOutages();

const redis = PrivateRedis.forThisFile();

const limits: Record<string, Limit> = {
  ...limitOfEach(40, '1h'),
  'rollingWindow with minDifference': rollingWindow({ limit: 40, window: '1h', minDifference: 1 }),
  concurrency: concurrency({ limit: 40, lease: '1h' }),
  calendarWindow: calendarWindow({ limit: 40, period: 'day', timeZone: 'UTC', lease: '1h' }),
  reportedQuota: reportedQuota({ guess: 40, lease: '1h' }),
};

/** Limits whose actions end by a release. */
const LEASED = new Set(['concurrency', 'calendarWindow', 'reportedQuota']);

/** A change of a state, which any number of them makes unreadable: bytes that differ, a part that is missing, another score. */
const damage = fc.record({
  places: fc.array(fc.tuple(fc.nat(400), fc.oneof(fc.nat(255), fc.constantFrom(0, 48, 57, 255))), {
    minLength: 1,
    maxLength: 3,
  }),
  cut: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(60)),
  score: fc.constantFrom('same', '0', '-1', '1e15', 'inf', '-inf', '1e300'),
});
const operations = fc.constantFrom('check', 'check', 'check of 3', 'peek', 'undo', 'undo the last', 'charge');

function damageBytes(bytes: Buffer, { places, cut }: { places: (readonly [number, number])[]; cut: number }): Buffer {
  const damaged = Buffer.from(bytes.subarray(0, Math.max(1, bytes.length - cut)));
  // From the end, where a log has its description.
  for (const [place, byte] of places) damaged[damaged.length - 1 - (place % damaged.length)] = byte;
  return damaged;
}

describe.each(LOGS)('with the log %s', (log) => {
  test.each(Object.keys(limits))('%s decides on any damaged state', async (name) => {
    const client = redis.connect();
    const store = new RedisStore({ client, log, denialCache: false });
    const property = fc.asyncProperty(
      fc.array(fc.constantFrom(1, 1, 1, 2), { minLength: 1, maxLength: 30 }),
      fc.boolean(),
      damage,
      fc.array(operations, { minLength: 1, maxLength: 5 }),
      async (costs, isPlain, wrong, then) => {
        const prefix = freshPrefix();
        const limiter = new RateLimiter({ limits: limits[name]!, store, prefix, timeout: '20s' });
        const decisions: Decision[] = [];
        for (const cost of costs) decisions.push(await limiter.check('ann', { cost: isPlain ? 1 : cost }));
        const [key] = await client.keys(`${prefix}*`);
        if (key === undefined) return;
        if ((await client.type(key)) === 'string')
          await client.set(key, damageBytes((await client.getBuffer(key))!, wrong), 'EX', 1000);
        else {
          const members = await client.zrange(key, '0', '-1', 'WITHSCORES');
          const place = 2 * (wrong.places[0]![0] % (members.length / 2));
          await client.zrem(key, members[place]!);
          const score = wrong.score === 'same' ? members[place + 1]! : wrong.score;
          await client.zadd(key, score, damageBytes(Buffer.from(members[place]!), wrong));
        }
        const undo = (decision: (typeof decisions)[number]) =>
          LEASED.has(name) ? limiter.release(decision) : limiter.refund(decision);
        const run = {
          check: () => limiter.check('ann'),
          'check of 3': () => limiter.check('ann', { cost: 3 }),
          peek: () => limiter.peek('ann'),
          undo: () => undo(decisions[0]!),
          'undo the last': () => undo(decisions.at(-1)!),
          charge: () => (name === 'concurrency' ? limiter.peek('ann') : limiter.charge('ann', { cost: 2 })),
        };
        for (const operation of then) {
          const [own, other] = await Promise.allSettled([run[operation](), limiter.check('bob')]);
          assert.equal(other.status, 'fulfilled');
          if (own.status === 'fulfilled') continue;
          // Another program may have written it, or its numbers are so wrong that the figures are impossible.
          assert(own.reason instanceof StoreError);
          assert.match(own.reason.message, /got another value|Expected the result of a script/);
        }
        await limiter.reset('ann');
        assert((await limiter.check('ann')).allowed);
      },
    );
    await fc.assert(property, { numRuns: effort(30, 5000), seed });
  });
});

test('a log whose count exceeds its length is dropped by the first check', async () => {
  const client = redis.connect();
  for (const [hits, limit] of [
    [3, rollingWindow({ limit: 10_000, window: '1h' })],
    [100, rollingWindow({ limit: 10_000, window: '1h' })],
    [100, rollingWindow({ limit: 10_000, window: '1h', minDifference: 1 })],
  ] as const) {
    const prefix = freshPrefix();
    const clock = { ms: 1e12, now: () => clock.ms };
    const limiter = new RateLimiter({
      limits: limit,
      store: new RedisStore({ client, clock, denialCache: false }),
      prefix,
    });
    for (let hit = 0; hit < hits; hit++) {
      await limiter.check('ann');
      clock.ms += 1;
    }
    const key = `${prefix}:{ann}:default`;
    const bytes = (await client.getBuffer(key))!;
    bytes.writeUInt32BE(5000, bytes.length - 7); // How many hits are kept.
    await client.set(key, bytes, 'EX', 1000);
    expect(await limiter.check('ann')).toMatchObject({ allowed: true, remaining: 9999 });
    expect(await client.strlen(key)).toBeLessThan(100);
  }
});

test('a counter counts anew after a damaged state', async () => {
  const client = redis.connect();
  const prefix = freshPrefix();
  const counter = new RollingCounter({ store: new RedisStore({ client }), prefix });
  await counter.add('ann', 3);
  const [key] = await client.keys(`${prefix}*`);
  const text = (await client.get(key!))!;
  await client.set(key!, text.replace(/:1:(\d+);/, ':3000:$1;'), 'EX', 1000);
  expect(await counter.addCount('ann', '1m')).toBe(1);
});
