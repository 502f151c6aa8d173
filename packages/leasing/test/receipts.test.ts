import { concurrency, type Decision, MemoryStore, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { keysOf } from '@rollgate/core/observe';
import { OutgoingLimiter, reportedQuota } from '@rollgate/fetch/outgoing';
import { LeasingStore } from '@rollgate/leasing';
import { RedisStore } from '@rollgate/redis';
import { effort, seed } from '@rollgate/test-support/effort';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { compareOpenReports } from '@rollgate/test-support/open-reports';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { freshPrefix, SomeRedis } from '../../redis/test/support/some-redis.js';
import { Lease } from '../src/lease.js';

silenceOutages();

const redis = SomeRedis.forThisFile();
const OWN = rollingWindow({ limit: 10, window: '1m' });

describe.each([
  ['a MemoryStore', (clock: ReturnType<typeof manualClock>) => new MemoryStore({ clock })],
  ['a RedisStore', (clock: ReturnType<typeof manualClock>) => new RedisStore({ client: redis.client, clock })],
] as const)('over %s', (_, open) => {
  test('a report replaces the numbers of a quota next to a leased limit', async () => {
    const limits = { own: OWN, api: reportedQuota({ lease: '30s' }) };
    const store = new LeasingStore({ store: open(manualClock(1e6)), minDecisions: 1 });
    const limiter = new OutgoingLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
    const decision = await limiter.check('token');
    await limiter.report(decision, { reported: { remaining: 3, limit: 5, resetMs: 10_000 }, cost: { own: 4 } });
    const { own, api } = (await limiter.peek('token')).limits;
    expect([own.remaining, api.spent, api.reserved, api.remaining]).toEqual([6, 2, 0, 3]);
    await limiter.close();
  });

  test('calls that stay open after a report decide as those of a naive model', async () => {
    const clock = manualClock(1e6);
    const store = new LeasingStore({ store: open(clock), minDecisions: 1 });
    await compareOpenReports(store, clock, seed, effort(150, 3000));
  });
});

test('a check that replies late gives back its call, and not the units of a leased limit', async () => {
  const clock = manualClock(1e6);
  const memory = new MemoryStore({ clock });
  const store = new LeasingStore({ store: memory });
  const limits = { own: OWN, api: reportedQuota({ lease: '30s' }) };
  const create = (timeout: '50ms' | '30s') => new OutgoingLimiter({ limits, store, timeout, onStoreError: 'deny' });
  const check = memory.check.bind(memory);
  let reply = () => {};
  memory.check = (...given) =>
    new Promise<Decision>((resolve) => {
      reply = () => resolve(check(...given) as Decision);
    }) as never;
  const checked = create('50ms').check('token');
  await flushPromises();
  clock.advance(50);
  expect((await checked).allowed).toBe(false);
  memory.check = check;
  reply();
  await flushPromises();
  const { own, api } = (await create('30s').peek('token')).limits;
  expect([own.remaining, api.reserved]).toEqual([9, 0]);
});

test('keys are listed by the names of the limits that the app knows', async () => {
  const store = new LeasingStore({ store: new RedisStore({ client: redis.client }), minDecisions: 1 });
  const limits = { own: OWN, slots: concurrency({ limit: 5, lease: '30s' }) };
  const limiter = new RateLimiter({ limits, store, prefix: freshPrefix(), timeout: '30s' });
  await limiter.check('ann');
  const found: string[] = [];
  for await (const { limit, key } of keysOf(limiter)) {
    found.push(`${limit} ${key}`);
    await limiter.reset({ own: 'zoe', slots: 'zoe', [limit]: key });
  }
  expect(found.sort()).toEqual(['own ann', 'slots ann']);
  expect((await limiter.peek('ann')).limits.own.remaining).toBe(10);
  await limiter.close();
});

describe('settlements of a lease', () => {
  /** The settlements that were sent, and what ends each of them. */
  let sent: { readonly units: number; readonly succeed: () => void; readonly fail: (error: unknown) => void }[];
  beforeEach(() => {
    sent = [];
  });

  /** Creates a lease of ten units, all of them spent. */
  function createSpentLease(): Lease {
    const settle = (_: unknown, units: number) =>
      new Promise<void>((resolve, reject) => {
        sent.push({ units, succeed: resolve, fail: reject });
      });
    const lease = new Lease(10, Infinity, 'receipt', settle);
    lease.spend(10);
    return lease;
  }

  const unitsSent = () => sent.map(({ units }) => units);

  test('settlements of a lease follow each other, and each has all refunds so far', async () => {
    const lease = createSpentLease();
    lease.close();
    const refunds = [lease.giveBack(3), lease.giveBack(1), lease.giveBack(1)];
    expect(unitsSent()).toEqual([7]);
    sent[0]!.succeed();
    await refunds[0];
    await Promise.resolve();
    expect(unitsSent()).toEqual([7, 5]);
    sent[1]!.succeed();
    await Promise.all(refunds);
    lease.giveBack(0);
    expect(unitsSent()).toEqual([7, 5]);
  });

  test('after a settlement that may be lost, there is no other one', async () => {
    const lease = createSpentLease();
    lease.close();
    const refund = lease.giveBack(3);
    sent[0]!.fail(new Error('lost'));
    await expect(refund).rejects.toThrow('lost');
    await lease.giveBack(2);
    expect(unitsSent()).toEqual([7]);
  });
});
