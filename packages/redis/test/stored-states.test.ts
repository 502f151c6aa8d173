import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { calendarWindow } from '@rollgate/calendar';
import * as core from '@rollgate/core';
import {
  concurrency,
  type Decision,
  type Key,
  type Limit,
  RateLimiter,
  RollingCounter,
  rollingWindow,
  StoreError,
} from '@rollgate/core';
import * as storeApi from '@rollgate/core/store';
import { reportedQuota } from '@rollgate/fetch/outgoing';
import * as redisApi from '@rollgate/redis';
import { type ClusterSlot, type IoredisClient, RedisStore } from '@rollgate/redis';
import { effort, randomRuns, seed } from '@rollgate/test-support/effort';
import { limitOfEach } from '@rollgate/test-support/limit-of-each';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import fc from 'fast-check';
import { PrivateRedis } from './support/private-redis.js';
import { continueHistory } from './support/recorded-history.js';
import { LOGS, openCustom, openRedis, writeRedis } from './support/recorded-states.js';
import { freshPrefix } from './support/some-redis.js';

silenceOutages();

const redis = PrivateRedis.forThisFile();

describe('damaged states', () => {
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
});

describe('recorded states', () => {
  const FOLDER = join(__dirname, 'recorded-states');
  describe.each(readdirSync(FOLDER))('states of %s', (name) => {
    const recorded = JSON.parse(gunzipSync(readFileSync(join(FOLDER, name))).toString());

    test.each(LOGS)('continue in Redis with the log %s', async (log) => {
      const client = redis.connect();
      const { states, decided } = recorded.redis[log];
      await writeRedis(client, states);
      expect(await continueHistory(core, openRedis(redisApi, client, log))).toEqual(decided);
    });

    test('continue in a store of createStore', async () => {
      const { states, decided } = recorded.custom;
      expect(await continueHistory(core, openCustom(storeApi, new Map(states)))).toEqual(decided);
    });

    test('matter to the decisions', async () => {
      expect(await continueHistory(core, openCustom(storeApi, new Map()))).not.toEqual(recorded.custom.decided);
    });
  });

  // A credit with `beyond` has added units to a quota of 10 a month.
  test.each([
    ['spent', undefined, '4319860750716e784319861cd47e000040140000000000006a4010000000000000', 14],
    [
      'reserved',
      '1m',
      '4319860750725cec4319861cd47e0000401c0000000000006a40180000000000004319822c05c14ae04319822c13d25de0401c000000000000' +
        '4319822c058441e44319822c13d25de040000000000000004319822c05c14ae04319822c140f66e04014000000000000',
      16,
    ],
  ] as const)('a month with added units, some of them %s, continues', async (prefix, lease, state, limit) => {
    const client = redis.connect();
    const clock = core.manualClock(1_795_000_001_123);
    const store = new redisApi.RedisStore({ client, clock, denialCache: false });
    const limits = calendarWindow({ limit: 10, period: 'month', lease });
    const limiter = new core.RateLimiter({ limits, store, prefix, timeout: '30s' });
    await writeRedis(client, [[`${prefix}:{ann}:default/cw`, state]]);
    expect(await limiter.peek('ann')).toMatchObject({ limit, remaining: 9, resetMs: 1_083_198_877 });
    clock.advance('1m'); // All reservations end.
    const used = lease === undefined ? 5 : 0;
    expect(await limiter.check('ann')).toMatchObject({ limit, remaining: limit - used - 1 });
    clock.advance('30d');
    expect(await limiter.peek('ann')).toMatchObject({ limit: 10, remaining: 10 });
    await limiter.close();
  });
});

describe('names of keys', () => {
  const limits: Readonly<Record<string, Limit>> = limitOfEach(1, '1m');

  /** A client without a server: it fails each script, and keeps the names of its keys. */
  class KeyRecorder implements IoredisClient {
    readonly status = 'ready';
    readonly options = {};
    readonly slots = [];
    seen: string[] = [];

    constructor(readonly isCluster: boolean) {}

    async evalsha(_sha: string, keyCount: number, ...keys: string[]): Promise<never> {
      this.seen.push(...keys.slice(0, keyCount));
      throw new Error('No server is running');
    }

    eval = this.evalsha;
  }

  /** The parts of a state's name. `name` and `algorithm` are those of the limit. */
  interface State {
    readonly prefix: string;
    readonly name: string;
    readonly algorithm: string;
    readonly key: string;
    readonly asRecord: boolean;
  }

  const PIECES = ['{', '}', ':', '/', '%', '#', '\0', '\n', '', 'a', 'api', 'fw', '/fw', ':fw', '\ud800', '\udc00', '%7B', '#count']; // biome-ignore format: a table
  const odd = fc.array(fc.constantFrom(...PIECES), { maxLength: 5 }).map((pieces) => pieces.join(''));
  const state: fc.Arbitrary<State> = fc.record({
    prefix: odd,
    name: fc.constantFrom('default', 'a', 'api', 'fw', 'swc', 'a.fw', 'a-fw', 'a_fw'),
    algorithm: fc.constantFrom(...Object.keys(limits)),
    key: odd.filter((key) => key !== ''), // An empty key is an error.
    asRecord: fc.boolean(),
  });

  async function keyOf({ prefix, name, algorithm, key, asRecord }: State, client: KeyRecorder, store: RedisStore) {
    const limiter = new RateLimiter({
      limits: { [name]: limits[algorithm]! },
      store,
      prefix,
      timeout: '30s',
      onStoreError: 'deny',
    });
    client.seen = [];
    await limiter.check((asRecord ? { [name]: key } : key) as Key);
    return client.seen;
  }

  test.each<[string, boolean, ClusterSlot]>([
    ['on one server', false, 'key'],
    ['on a Cluster', true, 'key'],
    ['on a Cluster, with all keys of a limiter in one hash slot', true, 'prefix'],
  ])(
    'different prefixes, names, algorithms and keys have different Redis keys: %s',
    async (_, isCluster, clusterSlot) => {
      const client = new KeyRecorder(isCluster);
      const store = new RedisStore({ client, clusterSlot });
      const stateOf = new Map<string, string>();
      await fc.assert(
        fc.asyncProperty(state, async (one) => {
          const { prefix, name, algorithm, key } = one;
          const [redisKey, ...others] = await keyOf(one, client, store);
          expect(others).toEqual([]);
          const id = JSON.stringify([prefix, name, algorithm, key]); // Whether the key was in a record makes no difference.
          const bytes = Buffer.from(redisKey!).toString('latin1'); // All lone surrogates have the same bytes.
          expect(stateOf.get(bytes) ?? id).toBe(id);
          stateOf.set(bytes, id);
        }),
        { ...randomRuns(400, 4000), examples: [['k:api', 'fw', 'rollingWindow'], ['k', 'api', 'fixedWindow']].map(([key, name, algorithm]) => [{ prefix: 'p', name, algorithm, key, asRecord: true } as State]) }, // biome-ignore format: a table
      );
    },
  );

  test.each(['x', '\ud800', '{'])('a key of a million characters has a short name in Redis: %j', async (character) => {
    const client = new KeyRecorder(false);
    const state = { prefix: 'p', name: 'default', algorithm: 'rollingWindow', asRecord: false };
    const store = new RedisStore({ client });
    const [one] = await keyOf({ ...state, key: `${character.repeat(1e6)}a` }, client, store);
    const [other] = await keyOf({ ...state, key: `${character.repeat(1e6)}b` }, client, store);
    expect(one!.length).toBeLessThan(300);
    expect(one).not.toBe(other);
  });
});
