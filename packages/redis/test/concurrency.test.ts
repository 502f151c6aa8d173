import { concurrency, type Decision, type Limits, manualClock, RateLimiter } from '@rollgate/core';
import { RedisStore } from '@rollgate/redis';
import { until } from '@rollgate/test-support';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { LeaseControl } from '../../store-conformance/src/lease-control.js';
import { PrivateRedis } from './support/private-redis.js';

const redis = PrivateRedis.forThisFile();

/** A limiter with a clock that the test advances, and the decisions whose leases it lost. */
function open(limits: Limits, clock = manualClock(1e12)) {
  const store = new RedisStore({ client: redis.connect(), clock });
  const lost: Decision[] = [];
  const onLeaseLost = ({ decision }: { decision: Decision }) => void lost.push(decision);
  return { clock, lost, store, limiter: new RateLimiter({ limits, store, timeout: '30s', onLeaseLost }) };
}

beforeEach(() => redis.server.run('FLUSHALL'));

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
