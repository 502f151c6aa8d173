import { concurrency, manualClock, RateLimiter, rollingWindow } from '@rollgate/core';
import { createStore, type Update } from '@rollgate/core/store';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { type Rows, updateRows } from '@rollgate/test-support/rows';

/** A store of `createStore` whose transactions can be paused before they run and before they end. */
function openPausingStore() {
  const clock = manualClock();
  const rows: Rows = new Map();
  const transactions: (readonly string[])[] = [];
  const pauses: { start?: Promise<void>; end?: Promise<void> } = {};
  const store = createStore({
    clock,
    async transact(keys: readonly string[], update: Update) {
      transactions.push(keys);
      const { start, end } = pauses;
      await start;
      updateRows(rows, keys, update);
      await end;
    },
  });
  /** Pauses the transactions that `call` starts. Returns the function that resumes them. */
  const pause = (when: 'start' | 'end', call: () => void) => {
    let resume = () => {};
    pauses[when] = new Promise((resolve) => {
      resume = resolve;
    });
    call();
    delete pauses[when];
    return async () => {
      resume();
      await flushPromises();
    };
  };
  return { clock, rows, store, transactions, pause };
}

describe('slots that are freed while their renewal runs stay free', () => {
  const limits = concurrency({ limit: 3, lease: '30s' });

  test.each(['release', 'refund', 'settle'] as const)('%s before the renewal runs', async (method) => {
    const { clock, rows, store, pause } = openPausingStore();
    const limiter = new RateLimiter({ limits, store });
    const decision = await limiter.check('ann', { cost: 2 });
    const resume = pause('start', () => clock.advance('10s'));
    await (method === 'settle' ? limiter.settle(decision, { cost: 0 }) : limiter[method](decision));
    await resume();
    expect((await limiter.peek('ann')).remaining).toBe(3);
    expect(rows.size).toBe(0);
  });

  test('a part that is settled before the renewal takes back a lost lease', async () => {
    const { clock, rows, store, pause } = openPausingStore();
    const limiter = new RateLimiter({ limits, store });
    const decision = await limiter.check('ann', { cost: 3 });
    rows.clear(); // The database has lost its data.
    const resume = pause('start', () => clock.advance('10s'));
    const resumeSettlement = pause('end', () => void limiter.settle(decision, { cost: 1 }));
    await resume();
    await resumeSettlement();
    expect((await limiter.peek('ann')).remaining).toBe(2);
  });

  test('before the renewal that took back a lost lease has ended', async () => {
    const { clock, rows, store, pause } = openPausingStore();
    const limiter = new RateLimiter({ limits, store });
    const decision = await limiter.check('ann');
    rows.clear();
    const resume = pause('end', () => clock.advance('10s'));
    await flushPromises();
    expect((await limiter.peek('ann')).remaining).toBe(2);
    await limiter.release(decision);
    await resume();
    expect((await limiter.peek('ann')).remaining).toBe(3);
  });
});

test('a release without slots needs no transaction', async () => {
  const { store, transactions } = openPausingStore();
  const limits = { slots: concurrency({ limit: 3, lease: '30s' }), rate: rollingWindow({ limit: 9, window: '1m' }) };
  const limiter = new RateLimiter({ limits, store });
  const decision = await limiter.check('ann', { cost: { slots: 0, rate: 1 } });
  await limiter.release(decision);
  expect(transactions).toHaveLength(1);
});
