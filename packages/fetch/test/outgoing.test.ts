import {
  concurrency,
  type Decision,
  type Limits,
  MemoryStore,
  manualClock,
  type RateLimiterOptions,
  rollingWindow,
  type Store,
} from '@rollgate/core';
import { createStore, readReceipt } from '@rollgate/core/store';
import { effort, seed } from '@rollgate/test-support/effort';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { compareOpenReports } from '@rollgate/test-support/open-reports';
import { type Rows, updateRows } from '@rollgate/test-support/rows';
import { OutgoingLimiter, reportedQuota } from '../src/outgoing';

const api = reportedQuota({ lease: '30s', retryAfter: '1s' });
const window = { remaining: 3, limit: 5, resetMs: 10_000 };

/** Stores on the same data, as those of several processes. */
function sharedStores(kind: 'a MemoryStore' | 'createStore') {
  const clock = manualClock(1e6);
  const memory = new MemoryStore({ clock });
  const rows: Rows = new Map();
  const database = { isDown: false };
  const open = (): Store =>
    kind === 'a MemoryStore'
      ? memory
      : createStore({
          clock,
          async transact(keys, update) {
            if (database.isDown) throw new Error('The database is down');
            updateRows(rows, keys, update);
          },
        });
  return { clock, open, database };
}

const usageOf = async (limiter: OutgoingLimiter<Limits>, key = 'token') => {
  const { spent, reserved, remaining } = (await limiter.peek(key)).limits.default!;
  return { spent, reserved, remaining };
};

describe.each(['a MemoryStore', 'createStore'] as const)('on %s', (kind) => {
  test('a quota that takes longer than `maxAge` to refill keeps its rate', async () => {
    const { open } = sharedStores(kind);
    const limiter = new OutgoingLimiter({ limits: reportedQuota({ lease: '30s', maxAge: '1h' }), store: open() });
    const hours = (count: number) => count * 3_600_000;
    await limiter.report('token', { reported: { remaining: 0, limit: 200, resetMs: hours(24), kind: 'refill' } });
    expect((await limiter.check('token')).retryAfterMs).toBe(hours(24) / 200);
    // No report stops calls for longer than `maxAge`.
    expect((await limiter.check('token', { cost: 200 })).retryAfterMs).toBe(hours(1));
    await limiter.report('token', { reported: { remaining: 200, resetMs: 0, windowMs: hours(24), kind: 'refill' } });
    const full = await limiter.check('token', { cost: 200 });
    await limiter.settle(full, { cost: 200 });
    expect((await limiter.check('token')).retryAfterMs).toBe(hours(24) / 200);
  });

  test('a report works once, and a report for a settled decision changes nothing', async () => {
    const { open } = sharedStores(kind);
    const limiter = new OutgoingLimiter({ limits: api, store: open() });
    const [first, second] = [await limiter.check('token'), await limiter.check('other')];
    await limiter.report(first, { reported: window });
    await limiter.report(first, { reported: { ...window, remaining: 0 } });
    await limiter.settle(first, { cost: 3 });
    expect(await usageOf(limiter)).toEqual({ spent: 2, reserved: 0, remaining: 3 });
    await limiter.refund(second);
    await limiter.report(second, { reported: { ...window, remaining: 0 } });
    expect((await limiter.check('other')).allowed).toBe(true);
  });

  test('one report settles all limits of the check together', async () => {
    const { open } = sharedStores(kind);
    const own = rollingWindow({ limit: 100, window: '1m' });
    const limits = { own, requests: api, tokens: reportedQuota({ lease: '30s', guess: 4000 }) };
    const limiter = new OutgoingLimiter({ limits, store: open() });
    const key = { own: 'me', requests: 'token', tokens: 'token' };
    const decision = await limiter.check(key, { cost: { own: 2, tokens: 1200 } });
    const reported = {
      requests: { remaining: 59, limit: 60, resetMs: 1000, kind: 'refill' },
      tokens: { remaining: 148_800, limit: 150_000, resetMs: 480, kind: 'refill' },
    } as const;
    await limiter.report(decision, { reported, cost: { own: 7 } });
    const { limits: left } = await limiter.peek(key);
    expect([left.own.remaining, left.requests.remaining, left.tokens.remaining]).toEqual([93, 59, 148_800]);
    // Without numbers, the actual cost counts.
    const next = await limiter.check(key, { cost: { tokens: 1000 } });
    await limiter.report(next, { reported: { requests: { remaining: 57, resetMs: 2000 } }, cost: { tokens: 300 } });
    const after = await limiter.peek(key);
    expect([after.limits.own.remaining, after.limits.requests.remaining, after.limits.tokens.remaining]).toEqual([92, 57, 148_500]); // biome-ignore format: short
  });

  test('a limit without a cost learns the numbers, too', async () => {
    const { open } = sharedStores(kind);
    const limiter = new OutgoingLimiter({ limits: { requests: api, tokens: api }, store: open() });
    const decision = await limiter.check('token', { cost: { tokens: 0 } });
    await limiter.report(decision, { reported: { requests: window, tokens: { ...window, remaining: 2 } } });
    const { requests, tokens } = (await limiter.peek('token')).limits;
    expect([requests.remaining, tokens.remaining]).toEqual([3, 2]);
  });

  test('a call that a report has closed is not renewed, and a slot of the same check is', async () => {
    const { clock, open } = sharedStores(kind);
    const losses: Decision[] = [];
    const limits = { api, slots: concurrency({ limit: 1, lease: '30s' }) };
    const onLeaseLost = ({ decision }: { decision: Decision }) => void losses.push(decision);
    const limiter = new OutgoingLimiter({ limits, store: open(), onLeaseLost });
    const decision = await limiter.check('token');
    await limiter.report(decision, { reported: window });
    for (let second = 0; second < 65; second++) {
      clock.advance('1s');
      await flushPromises();
    }
    expect((await limiter.peek('token')).limits.slots.remaining).toBe(0);
    await limiter.release(decision);
    const { limits: left } = await limiter.peek('token');
    expect([left.slots.remaining, left.api.remaining]).toEqual([1, 5]); // The window has ended.
    expect(losses).toEqual([]);
    await limiter.close();
  });

  test('a release after a report frees the slots of the check, and counts the call no second time', async () => {
    const { open } = sharedStores(kind);
    const limits = { api, slots: concurrency({ limit: 1, lease: '30s' }) };
    const limiter = new OutgoingLimiter({ limits, store: open() });
    const decision = await limiter.check('token');
    await limiter.report(decision, { reported: window });
    await limiter.release(decision);
    const { limits: left } = await limiter.peek('token');
    expect([left.slots.remaining, left.api.remaining]).toEqual([1, 3]);
  });

  test('calls that stay open after a report decide as those of a naive model', async () => {
    const { clock, open } = sharedStores(kind);
    const turns = effort(150, 3000);
    for (let offset = 0; offset < 2; offset++) await compareOpenReports(open(), clock, seed + offset, turns);
  });

  test('a call that stays open after a report wakes a caller of the quota at once, and keeps its slot', async () => {
    const { open } = sharedStores(kind);
    const limits = { api, slots: concurrency({ limit: 2, lease: '30s' }) };
    const limiter = new OutgoingLimiter({ limits, store: open() });
    const probe = await limiter.check('token');
    const [second, third] = [limiter.wait('token'), limiter.wait('token')];
    await flushPromises();
    await limiter.report(probe, { reported: window, keepOpen: true });
    expect((await second).limits.slots.remaining).toBe(0);
    await limiter.settle(probe, { cost: { slots: 0 } });
    expect((await third).limits.api.remaining).toBe(1);
    await limiter.close();
  });

  test('callers wait for the response of the probe, and start when it reports that units are left', async () => {
    const { open } = sharedStores(kind);
    const limiter = new OutgoingLimiter({ limits: api, store: open() });
    const probe = await limiter.wait('token');
    const started: number[] = [];
    const waiting = [1, 2, 3].map(async (caller) => {
      await limiter.wait('token');
      started.push(caller);
    });
    await flushPromises();
    expect(started).toEqual([]);
    await limiter.report(probe, { reported: { ...window, remaining: 2 } });
    await flushPromises();
    expect(started).toEqual([1, 2]);
    await limiter.report('token', { reported: { ...window, remaining: 4 } });
    await Promise.all(waiting);
    expect(started).toEqual([1, 2, 3]);
  });

  test('a call above the limit of the server is rejected at once, until a response reports a higher one', async () => {
    const { open } = sharedStores(kind);
    const [one, other] = [open(), open()].map((store) => new OutgoingLimiter({ limits: api, store }));
    await one!.report('token', { reported: window });
    expect(await other!.check('token', { cost: 6 })).toMatchObject({ allowed: false, retryAfterMs: Infinity });
    await expect(other!.wait('token', { cost: 6 })).rejects.toMatchObject({ code: 'ERR_ROLLGATE_NEVER_ALLOWED' });
    const probe = await one!.check('token');
    const waiting = one!.wait('token', { cost: 5 });
    const rejected = expect(waiting).rejects.toMatchObject({ code: 'ERR_ROLLGATE_NEVER_ALLOWED' });
    await one!.report(probe, { reported: { ...window, limit: 4 } });
    await rejected;
    await one!.report('token', { reported: { ...window, remaining: 8, limit: 8 } });
    expect((await other!.check('token', { cost: 6 })).allowed).toBe(true);
  });

  test('a report for a key passes on what other clients receive', async () => {
    const { open, clock } = sharedStores(kind);
    const limits = { own: rollingWindow({ limit: 9, window: '1m' }), requests: api, tokens: api };
    const limiter = new OutgoingLimiter({ limits, store: open() });
    await limiter.report('token', { reported: { requests: window } });
    await limiter.report({ tokens: 'token' }, { reported: { ...window, remaining: 1 } });
    const { own, requests, tokens } = (await limiter.peek('token')).limits;
    expect([own.remaining, requests.remaining, tokens.remaining]).toEqual([9, 3, 1]);
    clock.advance(100);
    // It was sent before the known numbers arrived, so the lower count stays.
    await limiter.report('token', { reported: { requests: { ...window, remaining: 5, resetMs: 9900 } }, ageMs: 200 });
    expect((await limiter.peek('token')).limits.requests.remaining).toBe(3);
    await limiter.report('token', { reported: { retryAfterMs: 1500.5 } });
    expect(await limiter.check('token')).toMatchObject({ violated: ['requests', 'tokens'], retryAfterMs: 1500.5 });
  });
});

test('in a database, a state of a version with another layout counts as absent', async () => {
  const far = Number.MAX_SAFE_INTEGER;
  const rows = new Map([
    // A used up quota, in the layout without a reserve.
    [
      '[1,"rollgate:default:reported-quota","token"]',
      [7, 2, 100, 0, 1e9, 864e8, 100, 6e7, 1e9, -far, 0, 0, 0, far, -far, 0, 0, 0, 0, 0],
    ],
  ]);
  const store = createStore({
    clock: manualClock(1_000_000),
    transact(keys, update) {
      const changes = update(keys.map((key) => rows.get(key)));
      for (const [index, key] of keys.entries()) rows.set(key, [...(changes[index]?.numbers ?? [])]);
    },
  });
  const limiter = new OutgoingLimiter({ limits: api, store });
  expect((await limiter.check('token')).allowed).toBe(true);
  await limiter.report('token', { reported: window });
  expect((await limiter.peek('token')).limits.default!.spent).toBe(2);
});

test('a report survives an outage: the fallback memory gets it, and a lost one is an error of the policy', async () => {
  const { open, database, clock } = sharedStores('createStore');
  const options = { limits: api, store: open(), onStoreError: 'fallback' } as const;
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const limiter = new OutgoingLimiter(options);
  const before = await limiter.check('token');
  database.isDown = true;
  await limiter.report(before, { reported: window }); // Lost, which is no error with this policy.
  const probe = await limiter.check('token');
  expect(probe.degraded).toBe('fallback');
  await limiter.report(probe, { reported: window });
  expect(await limiter.check('token', { cost: 2 })).toMatchObject({ degraded: 'fallback', remaining: 1 });
  database.isDown = false;
  clock.advance('31s'); // The call before the outage has ended with its lease.
  await flushPromises();
  const strict = new OutgoingLimiter({ ...options, onStoreError: 'throw', store: open() });
  const decision = await strict.check('token');
  database.isDown = true;
  await expect(strict.report(decision, { reported: window })).rejects.toThrow('The database is down');
  jest.restoreAllMocks();
});

test('during an outage, reports and settlements change nothing in limits that have no units to count', async () => {
  const { open, database } = sharedStores('createStore');
  jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  const own = rollingWindow({ limit: 100, window: '1m' });
  const unlimited = rollingWindow({ limit: Number.POSITIVE_INFINITY, window: '1m' });
  const limiter = new OutgoingLimiter({
    ...{ limits: { api, own }, fallbackLimits: { api, own: unlimited } },
    ...{ store: open(), onStoreError: 'fallback' as const },
  });
  database.isDown = true;
  const first = await limiter.check('token');
  await limiter.report(first, { keepOpen: true, cost: { own: 3 } });
  await limiter.report(first, { keepOpen: true, reported: { api: window } });
  await limiter.settle(first, { cost: { own: 7 } });
  const second = await limiter.check('token');
  await limiter.report(second, { keepOpen: true, reported: { api: window } });
  await limiter.refund(second);
  expect((await limiter.check('token')).limits).toMatchObject({ own: { remaining: Number.POSITIVE_INFINITY } });
  jest.restoreAllMocks();
});

test('a report for a rejection changes nothing', async () => {
  const limiter = new OutgoingLimiter({ limits: api });
  await limiter.check('token');
  const rejected = await limiter.check('token');
  await limiter.report(rejected, { reported: window });
  expect((await limiter.peek('token')).allowed).toBe(false);
  await limiter.close();
});

test('a call stays open in reported quotas without numbers or costs, and in slots that cost something', async () => {
  const { clock, open } = sharedStores('createStore');
  const limits = {
    api,
    slots: concurrency({ limit: 3, lease: '30s' }),
    own: rollingWindow({ limit: 9, window: '1h' }),
  };
  const limiter = new OutgoingLimiter({ limits, store: open() });
  const decision = await limiter.check('token', { cost: { slots: 2 } });
  await limiter.report(decision, { cost: { slots: 1, own: 3 }, keepOpen: true });
  for (let second = 0; second < 65; second++) {
    clock.advance('1s');
    await flushPromises();
  }
  const figures = async () => {
    const { api: quota, slots, own } = (await limiter.peek('token')).limits;
    return [quota.reserved, slots.remaining, own.remaining];
  };
  expect(await figures()).toEqual([1, 1, 6]);
  await limiter.settle(decision, { cost: { slots: 0, api: 1, own: 9 } });
  expect(await figures()).toEqual([0, 3, 6]);
  await limiter.close();
});

test('a receipt that cannot be divided is an error of `keepOpen`, and the call can still be closed', async () => {
  const { open } = sharedStores('createStore');
  const limits = { api, own: rollingWindow({ limit: 9, window: '1h' }) };
  const limiter = new OutgoingLimiter({ limits, store: open() });
  const decision = await limiter.check('token');
  const held = readReceipt(decision) as { receipt: unknown };
  const whole = held.receipt;
  held.receipt = { withLimits: () => whole };
  await expect(limiter.report(decision, { reported: window, keepOpen: true })).rejects.toMatchObject({
    code: 'ERR_ROLLGATE_UNSUPPORTED_OPERATION',
    message: expect.stringContaining('which `keepOpen` needs'),
  });
  held.receipt = whole;
  await limiter.report(decision, { reported: window });
  expect((await limiter.peek('token')).limits.api.remaining).toBe(3);
  await limiter.close();
});

test('a lease that a renewal reports as lost is lost at once, also if a report keeps the call open meanwhile', async () => {
  const { clock, open } = sharedStores('createStore');
  const store = open();
  let replyLost = () => {};
  store.renew = (receipts) => new Promise((resolve) => { replyLost = () => resolve(receipts); }); // biome-ignore format: short
  const losses: Decision[] = [];
  const limits = { api, slots: concurrency({ limit: 1, lease: '30s' }) };
  const onLeaseLost = ({ decision }: { decision: Decision }) => void losses.push(decision);
  const limiter = new OutgoingLimiter({ limits, store, onLeaseLost });
  const decision = await limiter.check('token');
  clock.advance('10s');
  await limiter.report(decision, { reported: window, keepOpen: true });
  replyLost();
  await flushPromises();
  expect(losses).toEqual([decision]);
  await limiter.close();
});

test.each([
  [
    { reported: { remaining: 1 } },
    'Expected `reported.resetMs` to be a number, because the other one is given, got undefined',
  ],
  [{ reported: { resetMs: 1 } }, 'Expected `reported.remaining` to be a number'],
  [
    { reported: { ...window, remaining: Number.NaN } },
    'Expected `reported.remaining` to be a safe integer from 0, got NaN (number)',
  ],
  [
    { reported: { ...window, remaining: 0.5 } },
    'Expected `reported.remaining` to be a safe integer from 0, got 0.5 (number)',
  ],
  [
    { reported: { ...window, remaining: '3' } },
    'Expected `reported.remaining` to be a safe integer from 0, got "3" (string)',
  ],
  [{ reported: { ...window, limit: 0 } }, 'Expected `reported.limit` to be a positive safe integer, got 0 (number)'],
  [{ reported: { ...window, resetMs: -1 } }, 'Expected `reported.resetMs` to be milliseconds from 0, got -1 (number)'],
  [
    { reported: { retryAfterMs: Number.NaN } },
    'Expected `reported.retryAfterMs` to be milliseconds from 0, got NaN (number)',
  ],
  [
    { reported: { ...window, kind: 'bucket' } },
    "Expected `reported.kind` to be one of 'window', 'refill', got \"bucket\" (string)",
  ],
  [
    { reported: { ...window, needed: 0.5 } },
    'Expected `reported.needed` to be a safe integer from 0, got 0.5 (number)',
  ],
  [{ reported: { ...window, reset: 1 } }, 'Unknown option `reset` for reported'],
  [
    { reported: { default: { ...window, limit: 1.5 } } },
    'Expected `reported.default.limit` to be a positive safe integer',
  ],
  [{ reported: { other: window } }, 'Unknown limit `other` in `reported`. The limits are `default`'],
  [{ reported: 3 }, 'Expected `reported options` to be an object, got 3 (number)'],
  [{ reported: window, cost: -1 }, 'Expected `cost` to be a safe integer from 0, got -1 (number)'],
  [{ reported: window, ageMs: 1 }, 'Expected `ageMs` to be absent, because the decision knows it, got 1 (number)'],
  [{ reported: window, keepOpen: 1 }, 'Expected `keepOpen` to be a boolean, got 1 (number)'],
  [{ reported: window, cost: -1, keepOpen: true }, 'Expected `cost` to be a safe integer from 0, got -1 (number)'],
  [{ report: window }, 'Unknown option `report` for report'],
])('report with %j rejects, and the decision stays open', async (options, message) => {
  const limiter = new OutgoingLimiter({ limits: api });
  const decision = await limiter.check('token');
  await expect(limiter.report(decision, options as never)).rejects.toThrow(message);
  await limiter.report(decision, { reported: window });
  expect((await limiter.check('token')).remaining).toBe(2);
  await limiter.close();
});

test.each([
  [{ lease: 0 }, 'Expected `lease`'],
  [{}, 'Expected `lease`'],
  [{ lease: '30s', guess: 0 }, 'Expected `guess` to be a positive safe integer, got 0 (number)'],
  [{ lease: '30s', maxAge: 'x' }, 'Expected `maxAge`'],
  [{ lease: '30s', retryAfter: -1 }, 'Expected `retryAfter`'],
  [{ lease: '30s', limit: 5 }, 'Unknown option `limit` for reportedQuota'],
])('reportedQuota(%j) throws', (options, message) => {
  expect(() => reportedQuota(options as never)).toThrow(message);
});

test('report needs a limit of a reported quota, and its keys name such limits', async () => {
  const own = rollingWindow({ limit: 1, window: '1m' });
  const none = new OutgoingLimiter({ limits: own });
  await expect(none.report('token', { reported: window })).rejects.toThrow(
    'Expected a limit of `reportedQuota()`, got none',
  );
  await expect(none.report(await none.check('token'), { reported: window })).rejects.toThrow('`reportedQuota()`');
  const both = new OutgoingLimiter({ limits: { own, api } });
  await expect(both.report({ own: 'token' } as never, { reported: window })).rejects.toThrow('`reportedQuota()`');
  await expect(both.report('token', { reported: { own: window } as never })).rejects.toThrow(
    'Unknown limit `own` in `reported`',
  );
  await expect(both.report('token', { reported: window, cost: 1 } as never)).rejects.toThrow(
    'Expected `cost` to be absent',
  );
  const open = both.report('token', { reported: window, keepOpen: true } as never);
  await expect(open).rejects.toThrow('Expected `keepOpen` to be absent');
  expect(() => new OutgoingLimiter(undefined as unknown as RateLimiterOptions)).toThrow('to be an object');
});
