import { type Calendar, CalendarWindow, LeasedCalendarWindow } from '@rollgate/calendar/window';
import { concurrency, type Decision, type Limits, manualClock, RateLimiter, StoreError } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { type IoredisClient, RedisStore } from '@rollgate/redis';
import { until } from '@rollgate/test-support';
import { effort } from '@rollgate/test-support/effort';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import type { Redis } from 'ioredis';
import { LeaseControl } from '../../store-conformance/src/lease-control.js';
import { PrivateRedis } from './support/private-redis.js';
import { ScriptProcess } from './support/script-process.js';
import { ScriptWork } from './support/script-work.js';
import { freshPrefix } from './support/some-redis.js';

silenceOutages();

const redis = PrivateRedis.forThisFile();
beforeEach(() => redis.server.run('FLUSHALL'));

describe('leases of slots', () => {
  /** A limiter with a clock that the test advances, and the decisions whose leases it lost. */
  function open(limits: Limits, clock = manualClock(1e12)) {
    const store = new RedisStore({ client: redis.connect(), clock });
    const lost: Decision[] = [];
    const onLeaseLost = ({ decision }: { decision: Decision }) => void lost.push(decision);
    return { clock, lost, store, limiter: new RateLimiter({ limits, store, timeout: '30s', onLeaseLost }) };
  }

  test('renews the leases of several keys, and loses only those whose slots are taken', async () => {
    const limits = concurrency({ limit: 2, lease: '30s' });
    const { limiter, clock, lost } = open(limits);
    const decisions: Decision[] = [];
    for (const key of ['ann', 'bob', 'ann', 'carl']) decisions.push(await limiter.check(key));
    await redis.server.run('DEL', 'rollgate:{bob}:default/c');
    const other = open(limits, clock).limiter;
    await Promise.all([other.check('bob'), other.check('bob')]);
    for (let third = 0; third < 4; third++) {
      clock.advance('10s');
      expect((await limiter.peek('ann')).remaining).toBe(0);
    }
    await until('the loss is reported', async () => lost.length > 0);
    expect(lost).toEqual([decisions[1]]);
    expect((await limiter.peek('carl')).remaining).toBe(1);
  });

  test('a renewal loses the slots of a key that another program has written, but not those of other keys', async () => {
    const { limiter, clock, lost } = open(concurrency({ limit: 2, lease: '30s' }));
    const decisions: Decision[] = [];
    for (const key of ['ann', 'bob', 'carl']) decisions.push(await limiter.check(key));
    await redis.server.run('SET', 'rollgate:{ann}:default/c', 'a text');
    await redis.server.run('ZADD', 'rollgate:{bob}:default/c', String(2e15), 'a member');
    for (let third = 0; third < 4; third++) {
      clock.advance('10s');
      expect((await limiter.peek('carl')).remaining).toBe(1);
    }
    await until('the losses are reported', async () => lost.length > 1);
    expect(lost).toEqual(decisions.slice(0, 2));
  });

  test('a renewal keeps all units of a lease, even at times before the epoch', async () => {
    const { limiter, clock } = open(concurrency({ limit: 3, lease: '30s' }), manualClock(-100_000));
    await limiter.check('ann', { cost: 2 });
    for (let third = 0; third < 4; third++) {
      clock.advance('10s');
      expect((await limiter.peek('ann')).remaining).toBe(1);
    }
    await limiter.close();
  });

  test('a lost lease stays lost when the clock steps back', async () => {
    const clock = { ms: 1e9, now: () => clock.ms };
    const control = new LeaseControl(new RedisStore({ client: redis.connect(), clock }));
    const slots = concurrency({ limit: 1, lease: '30s' });
    const onLeaseLost = ({ decision }: { decision: Decision }) => control.addLoss(decision);
    const limiter = new RateLimiter({ limits: { slots }, store: control.createStore(), timeout: '30s', onLeaseLost });
    await limiter.check('ann');
    clock.ms = 0; // Now the lease seems to be that of a broken clock.
    const late = await limiter.check('ann');
    clock.ms = 30_000;
    expect(await control.renew(30_000)).toEqual([late]);
    clock.ms = 29_999;
    const limits = { slots: concurrency({ limit: 2, lease: '30s' }) };
    expect((await limiter.peek('ann', { limits })).remaining).toBe(1);
    await limiter.close();
  });

  test('a renewal that Redis rejects fails, and loses no lease', async () => {
    const { limiter, clock, lost } = open(concurrency({ limit: 3, lease: '30s' }));
    await limiter.check('ann', { cost: 2 });
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation();
    await redis.server.run('ACL', 'SETUSER', 'default', '-zmscore');
    clock.advance('10s');
    expect((await limiter.peek('ann')).remaining).toBe(1);
    await redis.server.run('ACL', 'SETUSER', 'default', '+zmscore');
    for (let second = 0; second < 30; second++) {
      clock.advance('1s');
      expect((await limiter.peek('ann')).remaining).toBe(1);
    }
    expect(lost).toEqual([]);
    warn.mockRestore();
    await limiter.close();
  });

  test('renews 1,000 leases with few scripts, and a slot takes at most 200 bytes', async () => {
    const { limiter, clock } = open(concurrency({ limit: 1000, lease: '30s' }));
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 100 }, () => limiter.check('ann')));
    }
    const bytes = Number(await redis.server.run('MEMORY', 'USAGE', 'rollgate:{ann}:default/c', 'SAMPLES', '0'));
    expect(bytes / 1000).toBeLessThan(200);
    const calls = await redis.countScriptCallsOf(async () => {
      clock.advance('10s');
      await limiter.peek('ann');
      await until('the renewal is over', async () => Number(await redis.server.run('ZCOUNT', 'rollgate:{ann}:default/c', (1e12 + 40_000) * 1000, '+inf')) === 1000); // biome-ignore format: short
    });
    expect(calls).toBeLessThan(10);
  });

  test('a slot that is released during a renewal stays free', async () => {
    const { limiter, clock } = open(concurrency({ limit: 900, lease: '30s' }));
    const decisions = await Promise.all(Array.from({ length: 900 }, () => limiter.check('ann')));
    clock.advance('10s'); // The leases are sent in several turns of the event loop.
    await limiter.release(decisions.at(-1)!);
    const renewed = () => redis.server.run('ZCOUNT', 'rollgate:{ann}:default/c', (1e12 + 40_000) * 1000, '+inf');
    await until('the others are renewed', async () => Number(await renewed()) >= 899);
    await flushPromises();
    expect((await limiter.peek('ann')).remaining).toBe(1);
    expect(await redis.server.run('ZCARD', 'rollgate:{ann}:default/c')).toBe(899);
  });

  test('a check removes leases that have ended', async () => {
    const { limiter, clock } = open(concurrency({ limit: 3, lease: '30s' }));
    await limiter.check('ann');
    await limiter.close(); // Ends its renewals.
    clock.advance('30s');
    await limiter.check('ann');
    expect(await redis.server.run('ZCARD', 'rollgate:{ann}:default/c')).toBe(1);
    await limiter.close();
  });

  test('the key expires one lease after its newest check', async () => {
    const store = new RedisStore({ client: redis.connect() });
    const limiter = new RateLimiter({ limits: concurrency({ limit: 5, lease: '30s' }), store, timeout: '30s' });
    await limiter.release(await limiter.check('bob'));
    await limiter.check('ann');
    const ttl = Number(await redis.server.run('PTTL', 'rollgate:{ann}:default/c'));
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(30_001);
    expect(await redis.server.run('EXISTS', 'rollgate:{bob}:default/c')).toBe(0);
    await limiter.close();
  });
});

describe('counts of leases', () => {
  const KEY = 'rollgate:{ann}:default/c';

  /** Takes so many leases of one key, and counts what scripts get from Redis from then on. */
  async function openWithLeases(leaseCount: number, cost: number) {
    const work = new ScriptWork(redis.connect());
    const clock = manualClock(1e12);
    const store = new RedisStore({ client: work.client, clock, denialCache: false });
    const limits = concurrency({ limit: 1_000_000, lease: '30s' });
    const limiter = new RateLimiter({ limits, store, timeout: '30s' });
    const decisions = await Promise.all(Array.from({ length: leaseCount }, () => limiter.check('ann', { cost })));
    const valuesOfCheck = () => work.valuesOf(async () => decisions.push(await limiter.check('ann')));
    const valuesOfRejection = () => work.valuesOf(() => limiter.check('ann', { cost: 1_000_000 }));
    return { work, clock, limiter, decisions, valuesOfCheck, valuesOfRejection };
  }

  test('a check gets as many values from Redis with many leases of several units as with few', async () => {
    const values: number[][] = [];
    for (const leaseCount of [10, 1000]) {
      await redis.server.run('FLUSHALL');
      const { limiter, valuesOfCheck, valuesOfRejection } = await openWithLeases(leaseCount, 3);
      values.push([await valuesOfCheck(), await valuesOfRejection()]);
      expect((await limiter.peek('ann')).remaining).toBe(1_000_000 - 3 * leaseCount - 1);
      await limiter.close();
    }
    expect(values[1]).toEqual(values[0]);
  });

  test('a key without leases of several units has no mark, and its checks are those of one that never had any', async () => {
    const { limiter, decisions, valuesOfCheck } = await openWithLeases(100, 1);
    const values = await valuesOfCheck();
    const several = await limiter.check('ann', { cost: 3 });
    expect(await redis.server.run('ZSCORE', KEY, '+2')).toBe('inf');
    await limiter.settle(several, { cost: 2 });
    expect(await redis.server.run('ZRANGE', KEY, '-1', '-1')).toEqual(['+1']);
    await limiter.release(several);
    expect(await redis.server.run('ZCARD', KEY)).toBe(decisions.length);
    expect(await valuesOfCheck()).toBe(values);
    await Promise.all(decisions.map((decision: Decision) => limiter.release(decision)));
    expect(await redis.server.run('EXISTS', KEY)).toBe(0);
    await limiter.close();
  });

  test('a check that is allowed removes the mark together with the last lease of several units that has expired', async () => {
    const { limiter, clock } = await openWithLeases(3, 2);
    await limiter.close(); // Ends the renewals.
    clock.advance('15s');
    await limiter.check('ann');
    expect(await redis.server.run('ZCARD', KEY)).toBe(5);
    clock.advance('15s');
    expect((await limiter.check('ann')).remaining).toBe(1_000_000 - 2);
    expect(await redis.server.run('ZCARD', KEY)).toBe(2);
  });

  test('rejections read many expired leases once, and count those that have not expired', async () => {
    const { limiter, clock, valuesOfRejection } = await openWithLeases(1000, 2);
    await limiter.close();
    clock.advance('15s');
    await limiter.check('ann', { cost: 5 });
    clock.advance('15s');
    expect(await valuesOfRejection()).toBeGreaterThan(1000);
    expect(await valuesOfRejection()).toBeLessThan(20);
    expect((await limiter.peek('ann')).remaining).toBe(1_000_000 - 5);
    expect(await redis.server.run('ZRANGE', KEY, '-1', '-1')).toEqual(['+4']);
  });
});

describe('settlements of leases', () => {
  /** When the connection breaks: before Redis has run a script, or before its reply. */
  type Break = 'before the script' | 'before the reply';

  /** A client whose connection can break. */
  class BreakingClient implements IoredisClient {
    readonly status = 'ready';
    readonly options = {};
    breaks: Break | undefined;

    constructor(private readonly client: Redis) {}

    evalsha(...args: Parameters<IoredisClient['evalsha']>): Promise<unknown> {
      return this.#run(() => this.client.evalsha(...args));
    }

    eval(...args: Parameters<IoredisClient['eval']>): Promise<unknown> {
      return this.#run(() => this.client.eval(...args));
    }

    async #run(script: () => Promise<unknown>): Promise<unknown> {
      const { breaks } = this;
      if (breaks === 'before the script') throw new Error('ECONNRESET');
      const reply = await script().catch((error) => error);
      if (breaks === 'before the reply' && !(reply instanceof Error)) throw new Error('ECONNRESET');
      if (reply instanceof Error) throw reply;
      return reply;
    }
  }

  /** Takes all of 2 slots for one action, and settles it to one slot over a connection that breaks. */
  async function settleToOneSlot(breaks: Break) {
    const clock = manualClock(1e12);
    const limits = concurrency({ limit: 2, lease: '30s' });
    const client = new BreakingClient(redis.connect());
    const onLeaseLost = jest.fn();
    const limiter = new RateLimiter({ limits, store: new RedisStore({ client, clock }), timeout: '30s', onLeaseLost });
    const other = new RateLimiter({
      limits,
      store: new RedisStore({ client: redis.connect(), clock }),
      timeout: '30s',
    });
    const decision = await limiter.check('ann', { cost: 2 });
    client.breaks = breaks;
    await expect(limiter.settle(decision, { cost: 1 })).rejects.toThrow(StoreError);
    client.breaks = undefined;
    return { clock, client, limiter, other, decision, onLeaseLost };
  }

  describe.each<Break>(['before the script', 'before the reply'])('a connection that breaks %s', (breaks) => {
    test('of a partial settlement loses no slot, and the next renewal frees the settled ones', async () => {
      const { clock, limiter, other, decision, onLeaseLost } = await settleToOneSlot(breaks);
      for (let third = 0; third < 4; third++) {
        clock.advance('10s');
        await limiter.peek('ann'); // The reply to this peek follows that of the renewal.
        expect((await other.peek('ann')).remaining).toBe(1);
      }
      const taken = await other.check('ann');
      clock.advance('10s');
      await limiter.peek('ann');
      expect(taken.allowed).toBe(true);
      expect(onLeaseLost).not.toHaveBeenCalled();
      await limiter.release(decision);
      await other.release(taken);
      expect(await other.peek('ann')).toMatchObject({ remaining: 2, resetMs: 0 });
    });

    test('of a partial settlement and the first renewal loses no slot', async () => {
      const { clock, client, limiter, other, decision, onLeaseLost } = await settleToOneSlot(breaks);
      client.breaks = breaks;
      clock.advance('10s');
      await expect(limiter.peek('ann')).rejects.toThrow(StoreError);
      client.breaks = undefined;
      for (let third = 0; third < 3; third++) {
        clock.advance('10s');
        await limiter.peek('ann');
        expect((await other.peek('ann')).remaining).toBe(1);
      }
      expect(onLeaseLost).not.toHaveBeenCalled();
      await limiter.release(decision);
    });

    test('of a partial settlement leaves no slot taken after a release', async () => {
      const { limiter, other, decision } = await settleToOneSlot(breaks);
      await limiter.release(decision);
      expect(await other.peek('ann')).toMatchObject({ remaining: 2, resetMs: 0 });
    });
  });
});

describe('reservations', () => {
  let client: Redis;
  beforeAll(() => {
    client = redis.connect();
  });

  const PROCESSES = effort(2, 8);
  const CALLS = effort(16, 64);
  const KILLS = effort(2, 200);
  const LEASE_MS = 1000;
  const LIMIT = 20 * CALLS;

  const serverMs = async () => {
    const [seconds, micros] = await client.time();
    return Number(seconds) * 1000 + Number(micros) / 1000;
  };

  const usageOf = async (limiter: RateLimiter, key: string) => {
    const { spent = Number.NaN, reserved = Number.NaN, remaining } = (await limiter.peek(key)).limits.default!;
    return { spent, reserved, remaining };
  };

  const YEAR = 365 * 24 * 3600e6;
  const years: Calendar = {
    windowMicros: YEAR,
    longestMicros: YEAR,
    periodAt(micros) {
      const startMicros = Math.floor(micros / YEAR) * YEAR;
      return { startMicros, endMicros: startMicros + YEAR };
    },
  };
  const budget = (limit: number, lease: string = '10m') => new LeasedCalendarWindow({ limit, calendar: years, lease });

  test(
    `${PROCESSES} processes with ${CALLS} calls each keep a budget, and what ${KILLS} killed ones have reserved comes back`,
    async () => {
      const limiter = new RateLimiter({
        limits: budget(LIMIT, `${LEASE_MS}ms`),
        store: new RedisStore({ client }),
        timeout: '1m',
      });
      const ledgerOf = async (key: string, name: string) => Number(await client.hget(`ledger:${key}`, name));
      /** A peek before the ledger, because a settlement is in the ledger before it is recorded. */
      const expectBudget = async (key: string) => {
        const { spent, reserved } = await usageOf(limiter, key);
        expect(spent + reserved).toBeLessThanOrEqual(LIMIT + (await ledgerOf(key, 'overdrafts')));
      };
      for (let round = 0; round < KILLS / PROCESSES; round++) {
        const key = `${freshPrefix()} ${round}`;
        const options = { url: redis.server.url, key, limit: LIMIT, lease: `${LEASE_MS}ms`, calls: CALLS, holdMs: 200 };
        const processes = Array.from({ length: PROCESSES }, () => new ScriptProcess('budget-process.mjs', options));
        const busy = PROCESSES * CALLS;
        await until('all processes spend', async () => {
          await expectBudget(key);
          return (await ledgerOf(key, 'sent')) > busy;
        });
        for (const one of processes) {
          await expectBudget(key);
          one.kill();
        }
        await Promise.all(processes.map((one) => one.ended()));
        const endedMs = await serverMs();
        const abandoned = await usageOf(limiter, key);
        expect(abandoned.reserved).toBeGreaterThan(0);
        await until('one lease has passed', async () => {
          await expectBudget(key);
          return (await serverMs()) >= endedMs + LEASE_MS;
        });
        const left = await usageOf(limiter, key);
        expect(left.reserved).toBe(0);
        // Every settlement that was replied to is recorded once, and nothing else than what was sent.
        expect(left.spent).toBeGreaterThanOrEqual(await ledgerOf(key, 'done'));
        expect(left.spent).toBeLessThanOrEqual(await ledgerOf(key, 'sent'));
        expect(left.remaining).toBe(Math.max(0, LIMIT - left.spent));
      }
    },
    effort(120_000, 1_200_000),
  );

  test.each([
    ['without leases', new CalendarWindow({ limit: 1e9, calendar: years })],
    ['with a lease, without reservations', budget(1e9)],
  ])('a key of a calendar window %s takes at most 120 bytes', async (_, limits) => {
    const prefix = 'rollgate';
    const key = `user:${freshPrefix().slice(-15)}`;
    const limiter = new RateLimiter({
      limits,
      store: new RedisStore({ client }),
      prefix,
      timeout: '30s',
    });
    await limiter.charge(key, { cost: 123_456_789 });
    await limiter.settle(await limiter.check(key, { cost: 5 }), { cost: 7 });
    const name = `${prefix}:{${key}}:default/cw`;
    expect(await client.strlen(name)).toBe(25);
    expect(await client.memory('USAGE', name)).toBeLessThanOrEqual(120);
    expect((await limiter.peek(key)).limits.default).toMatchObject({ spent: 123_456_796, reserved: 0 });
  });

  test.each([
    ['without leases', new CalendarWindow({ limit: 10, calendar: years })],
    ['with a lease', budget(10)],
  ])('a credit `beyond` that adds nothing to a window %s takes the commands of any credit', async (_, limits) => {
    const limiter = new RateLimiter({ limits, store: new RedisStore({ client }), timeout: '30s' });
    const commandsOf = async (beyond: boolean) => {
      await limiter.charge('ann', { cost: 4 });
      return redis.countCommandsOf(() => credit(limiter, 'ann', 4, { beyond }));
    };
    await commandsOf(false); // The server has now loaded the scripts.
    expect(await commandsOf(true)).toBe(await commandsOf(false));
  });
});
