import { concurrency, type Decision, manualClock, RateLimiter } from '@rollgate/core';
import { createStore } from '@rollgate/core/store';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { OutageLog } from '@rollgate/test-support/outage-log';
import { type Rows, updateRows } from '@rollgate/test-support/rows';

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

beforeEach(() => void jest.spyOn(process, 'emitWarning').mockImplementation(() => {}));
afterEach(() => jest.restoreAllMocks());

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
