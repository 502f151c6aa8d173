import {
  concurrency,
  type Decision,
  fixedWindow,
  type Limits,
  MemoryStore,
  manualClock,
  RateLimiter,
  rollingWindow,
  type Store,
  tokenBucket,
} from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { type Plan, readReceipt } from '@rollgate/core/store';
import { LeasingStore, type LeasingStoreOptions } from '@rollgate/leasing';
import { RedisStore } from '@rollgate/redis';
import { createRowStore } from '@rollgate/test-support/rows';
import { SomeRedis } from '../../redis/test/support/some-redis.js';

const QUOTA = rollingWindow({ limit: 100, window: '1s' });
const LEASE = { lease: '20ms', minDecisions: 1, maxShare: 0.1 } as const;

let clock: ReturnType<typeof manualClock>;
let memory: MemoryStore;
/** The calls of the store that were made. */
let calls: string[];
/** A `MemoryStore` that notes its calls. */
let shared: Store;
beforeEach(() => {
  clock = manualClock(1000);
  memory = new MemoryStore({ clock });
  calls = [];
  shared = new Proxy(memory, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        calls.push(String(name));
        return value.apply(target, given);
      };
    },
  });
});

function createLimiter<Given extends Limits>(limits: Given, options: Partial<LeasingStoreOptions> = LEASE) {
  return new RateLimiter({ limits, store: new LeasingStore({ store: shared, ...options }), timeout: '1h' });
}

/** Decides so often, and returns how many checks were allowed. */
function decide(limiter: RateLimiter<typeof QUOTA>, times: number): number {
  return Array.from({ length: times }, () => limiter.decide('hot') as Decision).filter(({ allowed }) => allowed).length;
}

test('most decisions take no call to the store, and together they are the limit', () => {
  const limiters = [createLimiter(QUOTA), createLimiter(QUOTA)];
  let allowed = 0;
  for (let ms = 0; ms < 900; ms++) {
    for (const limiter of limiters) allowed += decide(limiter, 1);
    clock.advance(1);
  }
  expect(allowed).toBe(100);
  calls = [];
  clock.advance('2s');
  expect(decide(limiters[0]!, 10)).toBe(10);
  expect(calls.length).toBeLessThanOrEqual(6);
});

test('a decision is there before the request for the next lease', async () => {
  const limiter = createLimiter(QUOTA);
  await limiter.settle(limiter.decide('hot', { cost: 10 }) as Decision, { cost: 1 });
  calls = [];
  expect(decide(limiter, 8)).toBe(8);
  expect(calls).toEqual([]);
  await Promise.resolve();
  expect(calls).toEqual(['check']);
});

test('a decision of a lease says what is an estimate', () => {
  const limiter = createLimiter(QUOTA);
  const other = createLimiter(QUOTA);
  decide(limiter, 5);
  const decision = limiter.decide('hot') as Decision;
  expect(decision).toMatchObject({
    allowed: true,
    limit: 100,
    remaining: 94,
    resetMs: 1020,
    remainingIsEstimate: true,
  });
  expect(decision.limits.default).toMatchObject({ allowed: true, remaining: 94, remainingIsEstimate: true });
  decide(other, 95);
  const rejected = other.decide('hot');
  expect(rejected).toMatchObject({
    allowed: false,
    retryAfterMs: 1020,
    reason: 'limit',
    violated: ['default'],
    retryIsEstimate: true,
    remainingIsEstimate: true,
  });
});

test('a key with few decisions per lease is checked in the store', () => {
  const limiter = createLimiter(QUOTA, { lease: '20ms' });
  for (let time = 0; time < 20; time++) {
    expect(limiter.decide('cold')).toMatchObject({ allowed: true, remainingIsEstimate: true });
    clock.advance(10);
  }
  expect(calls.filter((name) => name === 'check')).toHaveLength(20);
  expect(calls).not.toContain('settle');
});

test('units that no action has spent return to the store after the lease', async () => {
  const limiter = createLimiter(QUOTA, { ...LEASE, maxShare: 1 });
  const plain = createLimiter(QUOTA, { ...LEASE, minDecisions: 1_000_000 });
  const decisions = Array.from({ length: 40 }, () => limiter.decide('hot') as Decision);
  for (const decision of decisions) await limiter.refund(decision);
  expect((await plain.peek('hot')).remaining).toBeLessThan(100);
  clock.advance(40);
  expect((await plain.peek('hot')).remaining).toBe(100);
});

test('a unit counts for a whole window after it was spent, and a lease ends before the store stops counting it', async () => {
  const limiter = createLimiter(QUOTA);
  const other = createLimiter(QUOTA);
  await limiter.settle(limiter.decide('hot', { cost: 10 }) as Decision, { cost: 1 });
  clock.advance(18);
  calls = [];
  expect(decide(limiter, 5)).toBe(5);
  expect(calls).toEqual([]);
  clock.advance(1);
  calls = [];
  expect(decide(limiter, 1)).toBe(1);
  expect(calls).toContain('check');
  clock.advance(990);
  expect(decide(other, 200)).toBe(93);
});

test('a check in the store is settled by the names of the limits', async () => {
  const limiter = createLimiter({ burst: QUOTA }, { lease: '20ms' });
  const decision = await limiter.check('cold', { cost: 10 });
  await limiter.settle(decision, { cost: { burst: 4 } });
  expect((await limiter.peek('cold')).remaining).toBe(96);
});

test('a refund returns units to the open lease, and later to the store', async () => {
  const limiter = createLimiter(QUOTA);
  const other = createLimiter(QUOTA);
  const decisions = Array.from({ length: 20 }, () => limiter.decide('hot') as Decision);
  calls = [];
  await limiter.refund(decisions[19]!);
  expect(calls).toEqual([]);
  clock.advance(50);
  expect((await other.peek('hot')).remaining).toBe(81);
  for (const decision of decisions.slice(0, 10)) await limiter.refund(decision);
  expect((await other.peek('hot')).remaining).toBe(91);
  await limiter.refund(decisions[0]!);
  expect((await other.peek('hot')).remaining).toBe(91);
});

test('a settlement lowers what a check has spent, or spends more', async () => {
  const limiter = createLimiter(QUOTA);
  const other = createLimiter(QUOTA);
  const [low, high, late] = [10, 1, 5].map((cost) => limiter.decide('hot', { cost }) as Decision);
  await limiter.settle(low!, { cost: 4 });
  await limiter.settle(high!, { cost: { default: 7 } });
  clock.advance(50);
  expect((await other.peek('hot')).remaining).toBe(100 - 4 - 7 - 5);
  await limiter.settle(late!, { cost: 50 });
  expect((await other.peek('hot')).remaining).toBe(100 - 4 - 7 - 50);
});

test('a charge counts at once', async () => {
  const limiter = createLimiter(QUOTA);
  expect(await limiter.charge('hot', { cost: 130 })).toMatchObject({ allowed: false, remainingIsEstimate: true });
  expect(limiter.decide('hot')).toMatchObject({ allowed: false });
});

test('a credit is for limits that are not leased, because other processes hold units of the others', async () => {
  const limiter = createLimiter({ hot: QUOTA, burst: fixedWindow({ limit: 5, window: '1m' }) });
  await limiter.check('ann', { cost: 3 });
  const error = { code: 'ERR_ROLLGATE_UNSUPPORTED_OPERATION', message: expect.stringContaining('LeasingStore') };
  await expect(credit(limiter, 'ann', 1)).rejects.toMatchObject(error);
  expect((await credit(limiter, { burst: 'ann' }, 1)).remaining).toBe(3);
});

test('a peek counts the units that this process holds as free', async () => {
  const limiter = createLimiter(QUOTA, { ...LEASE, maxShare: 1 });
  decide(limiter, 60);
  const { remaining } = await limiter.peek('hot');
  expect(remaining).toBe(40);
  expect(await limiter.peek('hot', { cost: 40 })).toMatchObject({ allowed: true, retryAfterMs: 0 });
  expect(await limiter.peek('hot', { cost: 41 })).toMatchObject({ allowed: false });
});

test('a reset gives the full quota, and ends the leases of this process', async () => {
  const limiter = createLimiter(QUOTA);
  decide(limiter, 100);
  await limiter.reset('hot');
  expect(decide(limiter, 101)).toBe(100);
});

test('units that this process holds reject no check in the store', async () => {
  const limits = { burst: QUOTA, bucket: tokenBucket({ capacity: 1000, refill: 1, every: '1s' }) };
  const limiter = createLimiter(limits, { ...LEASE, maxShare: 1 });
  for (let time = 0; time < 60; time++) await limiter.check('hot');
  expect((await limiter.check('hot', { cost: { burst: 40, bucket: 1 } })).allowed).toBe(true);
});

test('several limits record all or none', async () => {
  const limits = { burst: QUOTA, bucket: tokenBucket({ capacity: 5, refill: 1, every: '1h' }) };
  const limiter = createLimiter(limits);
  for (let time = 0; time < 5; time++) expect((await limiter.check('hot')).allowed).toBe(true);
  const rejected = await limiter.check('hot');
  expect(rejected).toMatchObject({ allowed: false, violated: ['bucket'], retryAfterMs: 3_600_000 });
  expect(rejected.remainingIsEstimate).toBeUndefined();
  expect(rejected.limits.burst).toMatchObject({ allowed: true, remaining: 95, remainingIsEstimate: true });
  const decision = await limiter.check('hot', { cost: { burst: 3, bucket: 0 } });
  await limiter.refund(decision);
  expect((await limiter.peek('hot')).limits.burst.remaining).toBe(95);
});

test('two leased limits need no store, and the scarcer one is reported', async () => {
  const limits = { second: QUOTA, minute: rollingWindow({ limit: 150, window: '1m' }) };
  const limiter = createLimiter(limits);
  for (let time = 0; time < 100; time++) expect((limiter.decide('hot') as Decision).allowed).toBe(true);
  expect(limiter.decide('hot')).toMatchObject({ allowed: false, violated: ['second'] });
  clock.advance('2s');
  for (let time = 0; time < 50; time++) expect((limiter.decide('hot') as Decision).allowed).toBe(true);
  expect(limiter.decide('hot')).toMatchObject({ allowed: false, violated: ['minute'], limit: 150 });
  expect((await limiter.peek('hot')).limits.second.remaining).toBe(50);
});

test.each([
  ['minDifference', rollingWindow({ limit: 5, window: '1m', minDifference: '1s' })],
  ['countRejected', rollingWindow({ limit: 5, window: '1m', countRejected: true })],
  ['blockFor', rollingWindow({ limit: 5, window: '1m', blockFor: '1h' })],
  ['another algorithm', tokenBucket({ capacity: 5, refill: 5, every: '1m' })],
  ['a window of few leases', rollingWindow({ limit: 5, window: '199ms' })],
])('the store alone decides with %s', async (_, limits) => {
  const limiter = createLimiter(limits);
  const plain = new RateLimiter({ limits, store: memory });
  const decision = await limiter.check('hot');
  expect(decision.remainingIsEstimate).toBeUndefined();
  expect((await plain.peek('hot')).remaining).toBe(4);
  await limiter.refund(decision);
  expect((await plain.peek('hot')).remaining).toBe(5);
});

test('slots next to a leased limit are released', async () => {
  const limiter = createLimiter({ burst: QUOTA, work: concurrency({ limit: 1, lease: '1m' }) });
  const decision = await limiter.check('hot');
  expect(await limiter.check('hot')).toMatchObject({ allowed: false, violated: ['work'] });
  await limiter.release(decision);
  expect((await limiter.check('hot')).allowed).toBe(true);
  await limiter.close();
});

test('a lease takes no more than its share of what is free', async () => {
  const limiter = createLimiter(QUOTA);
  const other = createLimiter(QUOTA);
  decide(limiter, 30);
  clock.advance(20);
  decide(limiter, 1);
  expect((await other.peek('hot')).remaining).toBeGreaterThanOrEqual(62);
});

test('a reset ends a lease with units', async () => {
  const limiter = createLimiter(QUOTA);
  const other = createLimiter(QUOTA);
  await limiter.settle(limiter.decide('hot', { cost: 10 }) as Decision, { cost: 1 });
  await limiter.reset('hot');
  expect(decide(other, 200)).toBe(100);
  expect(decide(limiter, 1)).toBe(0);
});

test('what is left of a quota is leased, although it is less than a process would like', () => {
  const limiter = createLimiter(QUOTA, { ...LEASE, maxShare: 1 });
  const other = createLimiter(QUOTA, LEASE);
  decide(limiter, 60);
  expect(decide(other, 60)).toBeLessThan(60);
  clock.advance(25);
  expect(decide(limiter, 100) + decide(other, 100)).toBeGreaterThan(0);
});

test('what is free is leased, although it is less than a process would like', () => {
  const limiter = createLimiter(QUOTA, { ...LEASE, maxShare: 1 });
  limiter.decide('hot', { cost: 20 });
  expect(decide(createLimiter(QUOTA), 75)).toBe(75);
  calls = [];
  expect(decide(limiter, 10)).toBe(5);
  expect(calls.slice(0, 2)).toEqual(['check', 'check']);
});

test('units that are too few for a check return before it asks for more', async () => {
  const limiter = createLimiter(QUOTA);
  await limiter.settle(limiter.decide('hot', { cost: 10 }) as Decision, { cost: 7 });
  calls = [];
  limiter.decide('hot', { cost: 4 });
  expect(calls).toEqual(['settle', 'check']);
});

test('leases of another length have another quota', async () => {
  expect(decide(createLimiter(QUOTA), 200)).toBe(100);
  expect(decide(createLimiter(QUOTA, { ...LEASE, lease: '21ms' }), 200)).toBe(100);
  expect(decide(createLimiter(QUOTA), 1)).toBe(0);
});

test('`close` returns all units', async () => {
  const store = new LeasingStore({ store: shared, ...LEASE, maxShare: 1 });
  const limiter = new RateLimiter({ limits: QUOTA, store });
  decide(limiter, 30);
  await store.close();
  expect(calls).toContain('close');
  expect(JSON.stringify(store)).not.toContain('"granted"');
});

/** Holds back these checks of the store until the returned function is called. */
function holdChecks(isHeld: (...given: Parameters<Store['check']>) => boolean): () => void {
  const held: (() => void)[] = [];
  const check = memory.check.bind(memory);
  memory.check = (...given) => {
    if (!isHeld(...given)) return check(...given);
    return new Promise<Decision>((resolve) => held.push(() => resolve(check(...given)))) as never;
  };
  return () => {
    for (const reply of held.splice(0)) reply();
  };
}

test('a check whose other limits are decided after its lease does not spend the lease', async () => {
  const limits = { hot: QUOTA, other: tokenBucket({ capacity: 1000, refill: 1000, every: '1h' }) };
  const cost = { hot: 1, other: 1 };
  const limiter = createLimiter(limits, { ...LEASE, maxShare: 1 });
  for (let index = 0; index < 50; index++) await limiter.check('hot', { cost });
  let isSlow = true;
  const reply = holdChecks(({ rules }) => isSlow && rules.every(({ name }) => name === 'other'));
  const checks = Array.from({ length: 20 }, () => limiter.check('hot', { cost }));
  clock.advance(990);
  isSlow = false;
  reply();
  const late = await Promise.all(checks);
  clock.advance(100); // The store no longer counts the lease, but the window has all of `late`.
  const next = await Promise.all(Array.from({ length: 100 }, () => limiter.check('hot', { cost })));
  expect([...late, ...next].filter(({ allowed }) => allowed).length).toBeLessThanOrEqual(100);
});

/** Whether a check is the first one that takes units for a lease. */
function isFirstRequest(): () => boolean {
  let requests = 0;
  return () => requests++ === 0;
}

test('a request for units without a reply does not stop a key', async () => {
  const limiter = createLimiter(QUOTA);
  decide(limiter, 5);
  clock.advance(30);
  const reply = holdChecks(isFirstRequest());
  const lost = [limiter.check('hot'), limiter.check('hot', { cost: 2 })];
  clock.advance(1100);
  expect((await Promise.all(lost)).map(({ allowed }) => allowed)).toEqual([true, true]);
  expect(decide(limiter, 1)).toBe(1);
  reply(); // Its units return to the store.
  clock.advance(2000);
  expect((await limiter.peek('hot')).remaining).toBe(100);
});

test('only the callers of a request use its units after the lease has ended', async () => {
  const limiter = createLimiter(QUOTA);
  decide(limiter, 10);
  clock.advance(30);
  const reply = holdChecks(isFirstRequest());
  const checks = [limiter.check('hot'), limiter.check('hot')];
  clock.advance(100);
  calls = [];
  reply();
  expect((await Promise.all(checks)).map(({ allowed }) => allowed)).toEqual([true, true]);
  expect(calls.filter((name) => name === 'check')).toHaveLength(1);
});

test('slots are taken together with the units of a leased limit', async () => {
  const limiter = createLimiter({ burst: QUOTA, work: concurrency({ limit: 100, lease: '1m' }) });
  const plans: string[][] = [];
  holdChecks(({ rules }) => {
    plans.push(rules.map(({ name }) => name));
    return false;
  });
  for (let time = 0; time < 3; time++) await limiter.check('hot');
  expect(plans).toEqual(Array(3).fill(['burst+lease20ms', 'work']));
});

test('a store that is slower than a lease makes checks wait for one reply', async () => {
  const limiter = createLimiter(QUOTA);
  const check = memory.check.bind(memory);
  memory.check = (...given) =>
    new Promise<Decision>((resolve) => clock.schedule(clock.now() + 30, () => resolve(check(...given)))) as never;
  const waits: number[] = [];
  for (let ms = 0; ms < 200; ms++) {
    const calledMs = clock.now();
    limiter.check('hot').then(() => waits.push(clock.now() - calledMs));
    clock.advance(1);
    await new Promise(setImmediate);
  }
  expect(waits.length).toBeGreaterThan(160);
  expect(Math.max(...waits.slice(60))).toBeLessThan(35);
});

test('`close` also returns the units of a request under way', async () => {
  const store = new LeasingStore({ store: shared, ...LEASE, maxShare: 1 });
  const limiter = new RateLimiter({ limits: QUOTA, store, timeout: '1h' });
  decide(limiter, 5);
  clock.advance(30);
  const reply = holdChecks(isFirstRequest());
  const check = limiter.check('hot', { cost: 2 });
  memory.close = () => {}; // It would drop all keys.
  const closed = store.close();
  reply();
  await Promise.all([check, closed]);
  const next = createLimiter(QUOTA);
  expect((await next.peek('hot')).remaining).toBe(93);
});

test('`wait` gets units that expire, and units of a refund', async () => {
  const limiter = createLimiter(QUOTA);
  const decisions = Array.from({ length: 100 }, () => limiter.decide('hot') as Decision);
  const waiting = limiter.wait('hot');
  await new Promise(setImmediate);
  await limiter.refund(decisions[0]!);
  expect((await waiting).allowed).toBe(true);
  const second = limiter.wait('hot');
  await new Promise(setImmediate);
  clock.advance(1020);
  expect((await second).allowed).toBe(true);
});

test('only callers that no lease decides wait in the queues of the store', async () => {
  const waited: string[] = [];
  const wait: NonNullable<Store['waiting']>['wait'] = async ({ plan }) => {
    waited.push(plan.rules[0]!.limit.algorithm);
    return undefined;
  };
  shared = Object.assign(Object.create(memory), { waiting: { wait } });
  for (const method of ['check', 'peek', 'charge', 'settle', 'refund', 'reset'] as const) {
    Object.assign(shared, { [method]: (memory[method] as () => unknown).bind(memory) });
  }
  await createLimiter(QUOTA).wait('hot');
  await createLimiter(tokenBucket({ capacity: 5, refill: 5, every: '1m' })).wait('hot');
  expect(waited).toEqual(['token-bucket']);
});

test.each([
  [{ store: {} }, '`store`'],
  [{ lease: '4ms' }, 'Expected `lease` to be a duration of at least 5 ms, got "4ms" (string)'],
  [{ lease: 0 }, '`lease`'],
  [{ maxShare: 0 }, 'Expected `maxShare` to be a number above 0 and at most 1, got 0 (number)'],
  [{ maxShare: '1' }, '`maxShare`'],
  [{ minDecisions: 0 }, '`minDecisions`'],
  [{ clockDrift: 0.5 }, 'Expected `clockDrift` to be a number from 0 to below 0.5, got 0.5 (number)'],
  [{ leases: 1 }, '`leases`'],
])('%j is an error', (options, message) => {
  expect(() => createLimiter(QUOTA, options as Partial<LeasingStoreOptions>)).toThrow(message);
});

const redis = SomeRedis.forThisFile();

const STORES: readonly [string, () => Store][] = [
  ['MemoryStore', () => new MemoryStore()],
  ['RedisStore', () => new RedisStore({ client: redis.client })],
  ['RedisStore with sorted sets', () => new RedisStore({ client: redis.client, log: 'sorted-set' })],
  ['a store of `createStore`', () => createRowStore(clock)],
];

test.each(STORES)('a settlement continues from the one before it, in %s', async (name, create) => {
  const store = create();
  const namespace = `${name}:default:rolling-window`;
  const plan: Plan = {
    prefix: name,
    rules: [{ name: 'default', limit: rollingWindow({ limit: 100, window: '1h' }), namespace }],
  };
  const free = async () => (await store.peek(plan, 'key', 1)).remaining;
  await store.check(plan, 'key', 2);
  const receipt = readReceipt(await store.check(plan, 'key', 10));
  for (const units of [6, 5, 5, 1]) {
    await store.settle!(receipt, units);
    expect(await free()).toBe(98 - units);
  }
  await store.refund(receipt);
  expect(await free()).toBe(98);
});
