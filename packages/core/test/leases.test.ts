import {
  type Awaitable,
  type Clock,
  concurrency,
  type Decision,
  manualClock,
  RateLimiter,
  type Store,
} from '@rollgate/core';
import { createStore } from '@rollgate/core/store';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { OutageLog } from '@rollgate/test-support/outage-log';
import { type Rows, updateRows } from '@rollgate/test-support/rows';

beforeEach(() => void jest.spyOn(process, 'emitWarning').mockImplementation(() => {}));

afterEach(() => jest.restoreAllMocks());

describe('renewals in batches', () => {
  /** A store whose transactions take 3 ms per key once it is slow. It notes the keys of each, and fails for some. */
  function openSlowStore() {
    const clock = manualClock();
    const rows: Rows = new Map();
    const transactions: (readonly string[])[] = [];
    const slow = { isSlow: false, msPerKey: 3, running: 0, mostRunning: 0, failingKey: '', hangingKey: '' };
    const store = createStore({
      clock,
      async transact(keys, update) {
        transactions.push(keys);
        slow.running += 1;
        slow.mostRunning = Math.max(slow.mostRunning, slow.running);
        if (slow.isSlow)
          await new Promise<void>((resolve) => {
            clock.schedule(clock.now() + slow.msPerKey * keys.length, resolve);
          });
        slow.running -= 1;
        const has = (name: string) => keys.some((key) => key.includes(`"${name}"`));
        if (has(slow.hangingKey)) await new Promise(() => {});
        if (has(slow.failingKey)) throw new Error('this row is locked');
        updateRows(rows, keys, update);
      },
    });
    const renewals: number[] = [];
    const renew = store.renew!.bind(store);
    Object.assign(store, {
      renew(receipts: readonly unknown[]) {
        renewals.push(receipts.length);
        return renew(receipts);
      },
    });
    const lost: unknown[] = [];
    const limiter = new RateLimiter({
      limits: concurrency({ limit: 300, lease: '30s' }),
      store,
      onLeaseLost: ({ key }) => lost.push(key),
    });
    const advance = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 50) {
        clock.advance(50);
        await flushPromises();
      }
    };
    return { limiter, store, slow, transactions, renewals, lost, advance };
  }

  test('the slots of many keys are renewed in parts, each within the timeout', async () => {
    const { limiter, slow, transactions, lost, advance } = openSlowStore();
    const keys = Array.from({ length: 250 }, (_, index) => `user ${index}`);
    await Promise.all(keys.map((key) => limiter.check(key)));
    transactions.length = 0;
    slow.isSlow = true;
    slow.mostRunning = 0;
    await advance(11_000);
    expect(transactions.map(({ length }) => length)).toEqual([100, 100, 50]);
    expect(slow.mostRunning).toBe(1);
    await advance(60_000);
    expect(lost).toEqual([]);
    slow.isSlow = false;
    expect((await limiter.peek('user 249')).remaining).toBe(299);
  });

  test('a renewal that takes longer than the timeout extends the leases, and the store stays up', async () => {
    const { limiter, store, slow, lost, advance } = openSlowStore();
    const log = new OutageLog(store);
    const keys = Array.from({ length: 150 }, (_, index) => `user ${index}`);
    await Promise.all(keys.map((key) => limiter.check(key)));
    Object.assign(slow, { isSlow: true, msPerKey: 8 }); // 800 ms for the first part, and 8 ms for a check.
    await advance(10_600);
    const checked = limiter.check('ann');
    await advance(50);
    expect((await checked).remaining).toBe(299);
    await advance(90_000);
    expect(lost).toEqual([]);
    expect(log.failures).toEqual([]);
    log.stop();
  });

  test('a part whose renewal hangs does not delay the others', async () => {
    const { limiter, slow, transactions, lost, advance } = openSlowStore();
    const keys = Array.from({ length: 250 }, (_, index) => `user ${index}`);
    for (const key of keys) await limiter.check(key);
    transactions.length = 0;
    slow.hangingKey = 'user 0';
    await advance(60_000);
    expect(lost).toEqual(keys.slice(0, 100));
    await limiter.close();
  });

  test('the slots of one key are renewed together', async () => {
    const { limiter, transactions, advance } = openSlowStore();
    for (let index = 0; index < 250; index++) await limiter.check('ann');
    transactions.length = 0;
    await advance(11_000);
    expect(transactions.map(({ length }) => length)).toEqual([1]);
  });

  test('a part that fails does not end the renewal of the others', async () => {
    const { limiter, slow, lost, advance } = openSlowStore();
    const keys = Array.from({ length: 250 }, (_, index) => `user ${index}`);
    for (const key of keys) await limiter.check(key);
    slow.failingKey = 'user 0';
    await advance(60_000);
    expect(lost).toEqual(keys.slice(0, 100));
  });

  test('slots that are released while other parts are renewed are not renewed', async () => {
    const { limiter, slow, renewals, advance } = openSlowStore();
    const keys = Array.from({ length: 150 }, (_, index) => `user ${index}`);
    const decisions = await Promise.all(keys.map((key) => limiter.check(key)));
    slow.isSlow = true;
    await advance(10_100);
    slow.isSlow = false;
    await Promise.all(decisions.slice(100, 149).map((decision) => limiter.release(decision)));
    await advance(1000);
    expect(renewals).toEqual([100, 1]);
  });

  test('slots that the store has lost go to the checks that came first, even if these share only some of the keys', async () => {
    const clock = manualClock();
    const rows: Rows = new Map();
    const store = createStore({
      clock,
      transact: (keys, update) => updateRows(rows, keys, update),
    });
    const lost: unknown[] = [];
    const onLeaseLost = ({ decision }: { decision: Decision }) => void lost.push(decision);
    const slot = concurrency({ limit: 1, lease: '30s' });
    const limiter = new RateLimiter({ limits: { printer: slot, tray: slot }, store, onLeaseLost });
    const check = async (printer: string, tray: string) => {
      rows.clear();
      const decision = await limiter.check({ printer, tray });
      expect(decision.allowed).toBe(true);
      return decision;
    };
    await limiter.settle(await check('hall', 'lower'), { cost: { printer: 0 } });
    await check('hall', 'upper');
    const last = await check('hall', 'lower');
    rows.clear();
    clock.advance('10s');
    expect(lost).toEqual([last]);
  });
});

describe('lost leases', () => {
  const inFlight = concurrency({ limit: 2, lease: '30s' });

  interface Options {
    readonly clock?: Clock;
    readonly onLeaseLost?: () => void;
    readonly renew?: (
      renewed: Awaitable<readonly unknown[]>,
      receipts: readonly unknown[],
    ) => Awaitable<readonly unknown[]>;
    readonly partOfReceipt?: (receipt: unknown) => string;
  }

  /** A limiter on a store of rows, and the decisions whose leases it lost. `renew` replaces what a renewal returns. */
  function open({ clock = manualClock(), onLeaseLost, renew = (renewed) => renewed, partOfReceipt }: Options = {}) {
    const rows: Rows = new Map();
    const store: Store = createStore({ clock, transact: (keys, update) => updateRows(rows, keys, update) });
    const renewStored = store.renew!.bind(store);
    const renewals: number[] = [];
    Object.assign(store, {
      renew(receipts: readonly unknown[]) {
        renewals.push(receipts.length);
        return renew(renewStored(receipts), receipts);
      },
      ...(partOfReceipt && { partOf: () => 'a', partOfReceipt }),
    });
    const lost: Decision[] = [];
    const limiter = new RateLimiter({
      name: 'tasks',
      limits: inFlight,
      store,
      timeout: '40s',
      onLeaseLost(loss) {
        lost.push(loss.decision);
        onLeaseLost?.();
      },
    });
    return { limiter, lost, store, rows, renewals, other: new RateLimiter({ limits: inFlight, store }) };
  }

  test.each([
    ['fails', () => Promise.reject(new Error('no route')), 1],
    ['does not respond', () => new Promise<never>(() => {}), 0],
    ['throws', () => { throw new Error('no connection'); }, 0], // biome-ignore format: short
  ])('while the store %s, a lease is lost when it ends by the own clock', async (_, renew, failureCount) => {
    const clock = manualClock();
    const { limiter, lost, renewals, store } = open({ clock, renew });
    const log = new OutageLog(store);
    const first = await limiter.check('ann');
    clock.advance('5s');
    const second = await limiter.check('ann');
    clock.advance(24_999);
    expect(lost).toEqual([]);
    clock.advance(1);
    expect(lost).toEqual([first]);
    clock.advance('5s');
    expect(lost).toEqual([first, second]);
    const sent = renewals.length;
    clock.advance('1h');
    expect(lost).toHaveLength(2);
    expect(renewals).toHaveLength(sent);
    await flushPromises();
    expect(log.failures).toHaveLength(failureCount);
    log.stop();
  });

  test('a reply that comes after that of a later renewal changes nothing', async () => {
    const clock = manualClock();
    let replyLate = () => {};
    const first = (lostReceipts: readonly unknown[]) =>
      new Promise<readonly unknown[]>((resolve) => {
        replyLate = () => resolve(lostReceipts);
      });
    const later = async () => [];
    const renews = [first, later];
    const { limiter, lost } = open({ clock, renew: (_, receipts) => (renews.shift() ?? later)(receipts) });
    await limiter.check('ann');
    clock.advance('10s');
    await flushPromises();
    clock.advance('10s');
    await flushPromises();
    replyLate();
    await flushPromises();
    clock.advance('29s');
    expect(lost).toEqual([]);
    await limiter.close();
  });

  test('a renewal that succeeds after failures counts from when it was sent', async () => {
    const clock = manualClock();
    let respond = () => {};
    const renew = () => new Promise<readonly unknown[]>((resolve) => { respond = () => resolve([]); }); // biome-ignore format: short
    const { limiter, lost } = open({ clock, renew });
    await limiter.check('ann');
    clock.advance('10s');
    const early = respond;
    clock.advance('5s');
    early();
    await flushPromises();
    clock.advance(24_999);
    expect(lost).toEqual([]);
    clock.advance(1);
    expect(lost).toHaveLength(1);
  });

  test('a process that was paused loses its leases before it renews the others', async () => {
    const clock = manualClock();
    let pausedMs = 0;
    const { schedule } = clock;
    const late: Clock = { now: () => clock.now() + pausedMs, schedule: (atMs, callback) => schedule(atMs, callback) };
    const { limiter, lost, renewals, other } = open({ clock: late });
    const decision = await limiter.check('ann');
    pausedMs = 20_001; // No timer runs before the pause is over.
    const { allowed } = await limiter.check('bob');
    clock.advance(9_999);
    expect([lost, renewals]).toEqual([[], []]);
    clock.advance(1);
    expect(allowed).toBe(true);
    expect([lost, renewals]).toEqual([[decision], [1]]);
    expect((await other.peek('ann')).remaining).toBe(2);
    expect((await other.peek('bob')).remaining).toBe(1);
  });

  test('a release after the end of the lease first reports the loss', async () => {
    let nowMs = 1e12;
    const { limiter, lost, other, store } = open({ clock: { now: () => nowMs, schedule: () => () => {} } });
    const release = jest.spyOn(store, 'release');
    const decision = await limiter.check('ann');
    nowMs += 30_000;
    await limiter.release(decision);
    await limiter.release(decision);
    expect(lost).toEqual([decision]);
    const next = await limiter.check('ann');
    nowMs += 29_999;
    await limiter.release(next);
    expect(lost).toHaveLength(1);
    expect(release).toHaveBeenCalledTimes(2);
    expect((await other.peek('ann')).remaining).toBe(2);
  });

  test('a part of the store that fails costs no lease in another part', async () => {
    const clock = manualClock();
    const parts = new WeakMap<object, string>();
    let part = 'a';
    const { limiter, lost, store } = open({
      clock,
      partOfReceipt(receipt) {
        if (!parts.has(receipt as object)) parts.set(receipt as object, part);
        return parts.get(receipt as object)!;
      },
    });
    const { renew } = store;
    store.renew = (receipts) => (parts.get(receipts[0] as object) === 'b' ? Promise.reject(new Error('down')) : renew!(receipts)); // biome-ignore format: short
    await limiter.check('ann');
    part = 'b';
    const inOther = await limiter.check('bob');
    for (let seconds = 0; seconds < 60; seconds += 10) {
      clock.advance('10s');
      await flushPromises();
    }
    expect(lost).toEqual([inOther]);
  });

  test('an error in `onLeaseLost` becomes a warning, and all other losses are reported', async () => {
    const clock = manualClock();
    const onLeaseLost = () => {
      throw new Error('a mistake');
    };
    const { limiter, lost } = open({ clock, onLeaseLost, renew: () => Promise.reject(new Error('down')) });
    const decisions = [await limiter.check('ann'), await limiter.check('ann')];
    clock.advance('30s');
    expect(lost).toEqual(decisions);
    expect(process.emitWarning).toHaveBeenCalledWith(
      'The function `onLeaseLost` of the limiter `tasks` failed: a mistake',
      {
        type: 'RollgateWarning',
        code: 'ROLLGATE_ON_LEASE_LOST_FAILED',
      },
    );
  });

  test('a lease that is taken again after a reset in the same microsecond is not that of a later check', async () => {
    const clock = manualClock();
    const { limiter, lost } = open({ clock });
    const before = await limiter.check('ann');
    await limiter.reset('ann');
    const after = await limiter.check('ann');
    clock.advance('10s');
    expect((await limiter.peek('ann')).remaining).toBe(0);
    await limiter.release(before);
    expect((await limiter.peek('ann')).remaining).toBe(1);
    clock.advance('25s');
    expect((await limiter.peek('ann')).remaining).toBe(1);
    await limiter.release(after);
    expect((await limiter.peek('ann')).remaining).toBe(2);
    expect(lost).toEqual([]);
  });

  test('a lease that was settled to fewer units takes only those again', async () => {
    const clock = manualClock();
    const { limiter } = open({ clock });
    const decision = await limiter.check('ann', { cost: 2 });
    await limiter.settle(decision, { cost: 1 });
    await limiter.reset('ann');
    clock.advance('10s');
    expect((await limiter.peek('ann')).remaining).toBe(1);
  });

  test('leases that have ended take no room in the state', async () => {
    const clock = manualClock();
    const { limiter, rows } = open({ clock, renew: () => Promise.reject(new Error('down')) });
    const sizes = new Set<number>();
    for (let count = 0; count < 20; count++) {
      await limiter.check('ann');
      clock.advance('29s');
      sizes.add([...rows.values()][0]!.length);
    }
    expect([...sizes].length).toBeLessThan(4);
  });
});
