import { spawnSync } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { join } from 'node:path';
import { type DecisionEvent, MemoryStore, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { credit } from '@rollgate/core/credit';
import { type UsageWarning, usageWarnings } from '@rollgate/core/observe';
import { createStore } from '@rollgate/core/store';
import { asynchronousStore } from '@rollgate/test-support/asynchronous-store';
import { type Rows, updateRows } from '@rollgate/test-support/rows';

describe('decisions', () => {
  const CHANNELS = ['rollgate:decision', 'rollgate:rejection'] as const;

  const published: Record<string, DecisionEvent[]> = {};
  const listeners = CHANNELS.map((name) => (event: unknown) => {
    published[name]!.push(event as DecisionEvent);
  });
  beforeEach(() => {
    for (const [index, name] of CHANNELS.entries()) {
      published[name] = [];
      subscribe(name, listeners[index]!);
    }
  });
  afterEach(() => {
    for (const [index, name] of CHANNELS.entries()) unsubscribe(name, listeners[index]!);
  });

  const clock = { now: () => 0 };
  const memory = () => new MemoryStore({ clock });

  const limits = rollingWindow({ limit: 3, window: '1m' });

  describe.each([
    ['at once', memory],
    ['later', () => asynchronousStore(memory())],
  ])('with a store that responds %s', (_, createStore) => {
    test('publishes every decision before the caller continues, and every rejection', async () => {
      const limiter = new RateLimiter({ limits, store: createStore(), name: 'api', prefix: 'v1' });
      const event = { limiter, name: 'api', prefix: 'v1', dryRun: false, key: 'ann', cost: 2 };
      const decision = await limiter.check('ann', { cost: 2 });
      expect(published['rollgate:decision']).toEqual([{ ...event, decision, violatedLimits: {} }]);
      expect(published['rollgate:decision']![0]!.decision).toBe(decision);
      const rejected = await limiter.decide('ann', { cost: 2 });
      expect(published['rollgate:decision']).toHaveLength(2);
      const violatedLimits = { default: expect.objectContaining({ limit: 3, remaining: 1, retryAfterMs: 60_000 }) };
      expect(published['rollgate:rejection']).toEqual([{ ...event, decision: rejected, violatedLimits }]);
    });

    test('a published decision can be refunded, and a peek, refund or reset publishes nothing', async () => {
      const limiter = new RateLimiter({ limits: { user: limits }, store: createStore() });
      await limiter.check({ user: 'ann' });
      await limiter.refund(published['rollgate:decision']![0]!.decision);
      expect(await limiter.peek({ user: 'ann' })).toMatchObject({ remaining: 3 });
      await limiter.reset({ user: 'ann' });
      expect(published['rollgate:decision']).toHaveLength(1);
      expect(published['rollgate:decision']![0]!.key).toEqual({ user: 'ann' });
    });
  });

  test('a subscriber of the rejections alone gets only rejections', async () => {
    unsubscribe('rollgate:decision', listeners[0]!);
    const limiter = new RateLimiter({ limits, store: memory() });
    for (let call = 0; call < 5; call++) await limiter.check('ann');
    expect(published['rollgate:decision']).toEqual([]);
    expect(published['rollgate:rejection']!.map(({ decision }) => decision.allowed)).toEqual([false, false]);
  });

  test('a call with invalid arguments publishes nothing', async () => {
    const limiter = new RateLimiter({ limits });
    await expect(limiter.check(null as never)).rejects.toThrow(TypeError);
    expect(published['rollgate:decision']).toEqual([]);
  });

  test('limiters without a name have the name of their prefix, or a number', async () => {
    const unnamed = [1, 2].map(() => new RateLimiter({ limits }));
    expect(() => new RateLimiter({ limits, dryRun: 'yes' as never })).toThrow('Expected `dryRun` to be a boolean');
    expect(() => new RateLimiter({ limits, name: 7 as never })).toThrow('Expected `name` to be a string, got 7');
    unnamed.push(new RateLimiter({ limits }), new RateLimiter({ limits, prefix: 'api' }));
    for (const limiter of unnamed) await limiter.check('ann');
    const names = published['rollgate:decision']!.map(({ name }) => name);
    const [first] = names.map((name) => Number(/^rollgate-(\d+)$/.exec(name)?.[1]));
    expect(names).toEqual([`rollgate-${first}`, `rollgate-${first! + 1}`, `rollgate-${first! + 2}`, 'api']);
  });

  test('a limiter in a dry run decides the same, and its events show it', async () => {
    const limiter = new RateLimiter({ limits, dryRun: true });
    expect((await limiter.check('ann', { cost: 3 })).allowed).toBe(true);
    expect((await limiter.check('ann')).allowed).toBe(false);
    expect(published['rollgate:rejection']).toMatchObject([{ dryRun: true }]);
  });
});

describe('usageWarnings', () => {
  let heard: UsageWarning[] = [];
  const note = (event: unknown) => void heard.push(event as UsageWarning);
  beforeEach(() => {
    heard = [];
    subscribe('rollgate:threshold', note);
  });
  afterEach(() => unsubscribe('rollgate:threshold', note));

  test('one check crosses the threshold, and another one after units have expired', async () => {
    const clock = manualClock();
    const store = new MemoryStore({ clock });
    const limiter = new RateLimiter({ name: 'api', prefix: 'v1', limits: { burst: '5/1m', day: '100/1d' }, store });
    const close = usageWarnings({ warnAt: 0.8 });
    for (let call = 0; call < 7; call++) await limiter.check('ann');
    const warning = {
      limiter,
      name: 'api',
      prefix: 'v1',
      dryRun: false,
      key: 'ann',
      limit: 'burst',
      used: 4,
      share: 0.8,
      warnAt: 0.8,
    };
    expect(heard).toEqual([warning]);
    clock.advance('1m');
    await limiter.check({ burst: 'ann', day: 'all' }, { cost: { burst: 5, day: 80 } });
    expect(heard.slice(1)).toMatchObject([
      { limit: 'burst', used: 5, share: 1 },
      { limit: 'day', used: 80, share: 0.8 },
    ]);
    close();
    clock.advance('1d');
    await limiter.check('ann', { cost: 5 });
    expect(heard).toHaveLength(3);
  });

  test('of parallel checks, exactly one crosses the threshold each time after a credit', async () => {
    const rows: Rows = new Map();
    // Two processes, as it were, whose transactions come one after the other.
    const [one, other] = [0, 1].map(() => {
      const transact = async (keys: readonly string[], update: Parameters<typeof updateRows>[2]) => {
        await new Promise(setImmediate);
        updateRows(rows, keys, update);
      };
      const store = createStore({ clock: manualClock(), transact });
      return new RateLimiter({ name: 'api', prefix: 'v1', limits: '100/1h', store });
    }) as [RateLimiter, RateLimiter];
    const close = usageWarnings({ warnAt: 0.8 });
    const checks = (count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => (index % 2 === 0 ? one : other).check('ann')));
    await checks(79);
    expect(heard).toEqual([]);
    await Promise.all([checks(3), credit(other, 'ann', 5), checks(5)]);
    expect((await one.peek('ann')).remaining).toBe(18);
    expect(heard).toMatchObject([
      { used: 80, share: 0.8 },
      { used: 80, share: 0.8 },
    ]);
    await credit(one, 'ann', 2);
    await checks(10);
    expect(heard).toHaveLength(2);
    close();
  });

  test('a limit that the check does not use is not watched', async () => {
    const close = usageWarnings({ warnAt: 0.1 });
    const limiter = new RateLimiter({ limits: { off: '0/1m', day: '10/1d' } });
    await limiter.check('ann', { cost: { off: 0, day: 1 } });
    close();
    expect(heard).toMatchObject([{ limit: 'day', share: 0.1 }]);
  });

  test('watches the named limiter and limit only', async () => {
    const close = usageWarnings({ warnAt: 1, limiter: 'api', limit: 'day' });
    for (const name of ['api', 'other']) {
      await new RateLimiter({
        name,
        limits: { day: '1/1d', burst: '1/1m', all: rollingWindow({ limit: Infinity, window: 1 }) },
      }).check('ann');
    }
    close();
    expect(heard).toMatchObject([{ name: 'api', limit: 'day' }]);
  });

  test.each([
    [{}, '`warnAt`'],
    [{ warnAt: 0 }, 'Expected `warnAt` to be a share above 0 and at most 1, got 0'],
    [{ warnAt: 1.1 }, 'Expected `warnAt` to be'],
    [{ warnAt: '80%' }, 'Expected `warnAt` to be'],
    [{ warnAt: 0.5, limit: 5 }, 'Expected `limit` to be a string'],
  ])('options %j are an error', (options, message) => {
    expect(() => usageWarnings(options as never)).toThrow(message);
  });
});

describe('NODE_DEBUG', () => {
  const CORE = join(__dirname, '..');
  const program = `
const { RateLimiter, rollingWindow } = require('.');
const limits = { burst: rollingWindow({ limit: 1, window: '1m' }), day: rollingWindow({ limit: 9, window: '1d' }) };
const limiter = new RateLimiter({ name: 'api', limits });
limiter.decide('ann');
limiter.decide({ burst: 'ann', day: 'all' });
limiter.decide(7n);
`;

  test.each([
    ['rollgate', 3],
    ['http', 0],
  ])('with NODE_DEBUG=%s, a process prints %i lines', (NODE_DEBUG, count) => {
    const { stderr } = spawnSync(process.execPath, ['-e', program], {
      cwd: CORE,
      env: { ...process.env, NODE_DEBUG },
      encoding: 'utf8',
    });
    const lines = stderr.split('\n').filter((line) => line.startsWith('ROLLGATE'));
    expect(lines).toHaveLength(count);
    if (count === 0) return;
    expect(lines[0]).toMatch(/^ROLLGATE \d+: api ann: allowed \(burst 0 of 1, day 8 of 9\)$/);
    expect(lines[2]).toContain(': api 7: allowed ');
    expect(lines[1]).toMatch(
      /^ROLLGATE \d+: api \{"burst":"ann","day":"all"\}: rejected by burst, retry in \d+(?:\.\d+)? ms \(burst 0 of 1, day 9 of 9\)$/,
    );
  });
});
