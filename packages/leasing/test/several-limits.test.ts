import {
  block,
  concurrency,
  type Decision,
  type Limits,
  type ManualClock,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  tokenBucket,
} from '@rollgate/core';
import { keysOf } from '@rollgate/core/observe';
import { type Plan, readReceipt } from '@rollgate/core/store';
import { OutgoingLimiter, reportedQuota } from '@rollgate/fetch/outgoing';
import { LeasingStore } from '@rollgate/leasing';
import { RedisStore } from '@rollgate/redis';
import { collectGarbage } from '@rollgate/test-support';
import { effort, seed } from '@rollgate/test-support/effort';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { compareOpenReports } from '@rollgate/test-support/open-reports';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { freshPrefix, SomeRedis } from '../../redis/test/support/some-redis.js';
import { Lease } from '../src/lease.js';

silenceOutages();

const TOTAL = rollingWindow({ limit: 100, window: '1s' });
const USER = rollingWindow({ limit: 3, window: '10s' });
const LEASE = { lease: '20ms', maxShare: 0.5 } as const;

let clock: ManualClock;
/** The rules that the store has checked. */
let checked: string[][];
let memory: MemoryStore;
beforeEach(() => {
  clock = manualClock(1000);
  checked = [];
  memory = new MemoryStore({ clock });
  const check = memory.check.bind(memory);
  memory.check = (plan, keys, costs) => {
    checked.push(plan.rules.map(({ name }) => name));
    return check(plan, keys, costs);
  };
});

function createLimiter<Given extends Limits>(limits: Given, options = {}) {
  return new RateLimiter({ limits, store: new LeasingStore({ store: memory, ...LEASE, ...options }) });
}

test('the limit of all is leased next to a limit of users that come seldom', async () => {
  const limiter = createLimiter({ total: TOTAL, user: USER });
  const checkAll = (count: number, prefix: string) =>
    Array.from(
      { length: count },
      (_, index) => limiter.decide({ total: 'all', user: `${prefix}${index}` }) as Decision,
    );
  checkAll(30, 'a');
  await Promise.resolve();
  checked = [];
  const [first, ...others] = checkAll(8, 'b');
  expect(checked).toEqual(Array(8).fill(['user+lease20ms']));
  expect(first).toMatchObject({ allowed: true, remaining: 2, remainingIsEstimate: true });
  expect(others.at(-1)!.limits.total?.remaining).toBe(62);
  await limiter.settle(first!, { cost: { total: 5, user: 3 } });
  expect((await limiter.peek({ total: 'all', user: 'b0' })).limits.user.remaining).toBe(0);
  const rejected = limiter.decide({ total: 'all', user: 'b0' });
  expect(rejected).toMatchObject({ allowed: false, violated: ['user'], retryIsEstimate: true });
  clock.advance(50); // Unspent units return to the store.
  expect((await limiter.peek({ total: 'all', user: 'b0' })).limits.total.remaining).toBe(100 - 38 - 4);
});

test('units that this process holds of a user do not reject the user next to a leased limit', async () => {
  const total = rollingWindow({ limit: 1000, window: '1s' });
  const limiter = createLimiter({ total, user: rollingWindow({ limit: 20, window: '10s' }) }, { maxShare: 1 });
  const checkAnn = (user: number) => limiter.check({ total: 'all', user: 'ann' }, { cost: { total: 1, user } });
  /** Others keep the total busy. */
  const advance = async (ms: number) => {
    for (let time = 0; time < ms; time++) {
      clock.advance(1);
      for (const name of ['b', 'c']) await limiter.check({ total: 'all', user: `${name}${clock.now()}` });
    }
  };
  await advance(20);
  for (let time = 0; time < 5; time++) await checkAnn(1);
  await advance(21);
  await checkAnn(1); // Leases five units.
  await advance(9);
  await checkAnn(5); // Spends them, and leases six.
  await advance(12);
  checked = [];
  expect((await checkAnn(8)).allowed).toBe(true);
  expect(checked[0]).toEqual(['user+lease20ms']);
  expect((await checkAnn(2)).allowed).toBe(false);
});

test('a check without a cost for all limits of the store is decided there as a whole', async () => {
  const limiter = createLimiter({ total: TOTAL, blocked: block() });
  for (let time = 0; time < 10; time++) await limiter.check('all');
  expect(await limiter.check('all', { cost: { total: 1, blocked: 0 } })).toMatchObject({ allowed: true });
  expect(checked.at(-1)).toEqual(['total+lease20ms', 'blocked']);
});

test('the figures of a leased limit without a cost come from the store, once per lease', async () => {
  const limits = { total: TOTAL, user: USER };
  const other = createLimiter(limits);
  for (let time = 0; time < 3; time++) await other.check('all');
  const limiter = createLimiter(limits);
  const cost = { total: 1, user: 0 };
  const decisions = Array.from({ length: 30 }, () => limiter.decide('all', { cost }) as Decision);
  expect(decisions.map((decision) => decision.limits.user?.remaining)).toEqual(Array(30).fill(0));
  expect(checked.slice(3).filter((names) => names.length === 2).length).toBeLessThan(8);
  await other.reset('all');
  clock.advance(21);
  expect((limiter.decide('all', { cost }) as Decision).limits.user?.remaining).toBe(3);
});

test('a long key is decided in the store, and not kept', async () => {
  const store = new LeasingStore({ store: memory, ...LEASE, minDecisions: 1 });
  const limiter = new RateLimiter({ limits: TOTAL, store });
  const key = 'k'.repeat(201);
  for (let time = 0; time < 100; time++) expect((await limiter.check(key)).allowed).toBe(true);
  expect((await limiter.check(key)).allowed).toBe(false);
  expect(checked).toHaveLength(101);
  expect((await limiter.check(key.slice(1))).allowed).toBe(true);
  expect(JSON.stringify(store)).not.toContain(key);
});

test('limits that are no longer used are forgotten', async () => {
  const store = new LeasingStore({ store: memory, ...LEASE });
  const limiter = new RateLimiter({ limits: null, store });
  for (let index = 0; index < 50; index++) {
    await limiter.check('key', { limits: rollingWindow({ limit: 100 + index, window: '1s' }) });
  }
  clock.advance('1m');
  await new Promise(setImmediate);
  collectGarbage();
  expect(Object.keys(store.toJSON()).length).toBeLessThan(10);
});

test('a settlement that lowers a cost after one that raised it returns no units of others', async () => {
  const store = new LeasingStore({ store: memory, ...LEASE, minDecisions: 1 });
  const plan: Plan = { prefix: 'p', rules: [{ name: 'total', limit: TOTAL, namespace: 'p:total:rolling-window' }] };
  const free = async () => (await store.peek(plan, 'key', 1)).remaining;
  store.check(plan, 'key', 5);
  store.check(plan, 'key', 2);
  const receipt = readReceipt(await store.check(plan, 'key', 5)); // Of the same lease as the two units before it.
  clock.advance(50);
  await store.settle(receipt, 8);
  expect(await free()).toBe(100 - 5 - 2 - 8);
  await store.settle(receipt, 0);
  expect(await free()).toBe(100 - 5 - 2 - 3);
});

test('another algorithm next to a leased limit is charged with its own cost', async () => {
  const bucket = tokenBucket({ capacity: 1000, refill: 1, every: '1h' });
  const limiter = createLimiter({ total: TOTAL, bucket });
  for (let time = 0; time < 10; time++) await limiter.check('all', { cost: { total: 1, bucket: 2 } });
  expect(checked.at(-1)).toEqual(['bucket']);
  expect((await limiter.peek('all')).limits).toMatchObject({ total: { remaining: 90 }, bucket: { remaining: 980 } });
});

test('an exhausted limit of all takes hardly more calls than without leases', async () => {
  const total = rollingWindow({ limit: 1000, window: '1s' });
  const limiter = createLimiter({ total, user: USER }, { maxShare: 0.1 });
  let allowed = 0;
  for (let ms = 0; ms < 3000; ms++) {
    for (let index = 0; index < 4; index++) {
      if ((await limiter.check({ total: 'all', user: `${ms} ${index}` })).allowed) allowed += 1;
    }
    clock.advance(1);
  }
  expect(allowed).toBe(3000);
  expect(checked.length).toBeLessThan(1.2 * 12_000);
});

test('units that cannot return to a store that fails reject no promise but that of the check', async () => {
  const limiter = createLimiter({ total: TOTAL, user: USER });
  for (let index = 0; index < 30; index++) limiter.decide({ total: 'all', user: `a${index}` });
  await Promise.resolve();
  const replies: ((error: Error) => void)[] = [];
  const neverReply = () => new Promise<never>((_, reject) => replies.push(reject));
  memory.check = neverReply as never;
  memory.settle = neverReply as never;
  const unhandled = jest.fn();
  process.on('unhandledRejection', unhandled);
  const check = limiter.check({ total: 'all', user: 'b' });
  clock.advance(60); // The lease ends, so its settlement is under way.
  await new Promise(setImmediate);
  expect(replies).toHaveLength(2);
  for (const reject of replies) reject(new Error('Connection lost'));
  await expect(check).rejects.toThrow('Connection lost');
  await new Promise(setImmediate);
  process.off('unhandledRejection', unhandled);
  expect(unhandled).not.toHaveBeenCalled();
});

const redis = SomeRedis.forThisFile();
const OWN = rollingWindow({ limit: 10, window: '1m' });

describe.each([
  ['a MemoryStore', (clock: ManualClock) => new MemoryStore({ clock })],
  ['a RedisStore', (clock: ManualClock) => new RedisStore({ client: redis.client, clock })],
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
