import { calendarWindow } from '@rollgate/calendar';
import {
  concurrency,
  type Decision,
  type ManualClock,
  MemoryStore,
  manualClock,
  RateLimiter,
  type Store,
} from '@rollgate/core';
import { createStore } from '@rollgate/core/store';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { type Rows, updateRows } from '@rollgate/test-support/rows';

const LEASE_MS = 600_000;
const budget = (limit = 100, unsettled?: 'refund' | 'charge') =>
  calendarWindow({ limit, period: 'month', lease: '10m', unsettled });

/** A day in the middle of a month: near its end, the next month would come before the end of a lease. */
const MARCH_10 = Date.parse('2026-03-10T12:00:00Z');

const memoryStore = () => new MemoryStore({ clock: manualClock(MARCH_10) });

/** Stores on the same rows, as those of several processes. */
function sharedStores() {
  const clock = manualClock(MARCH_10);
  const rows: Rows = new Map();
  const network = { isDown: false };
  const open = (): Store =>
    createStore({
      clock,
      transact(keys, update) {
        if (network.isDown) throw new Error('The network is down');
        updateRows(rows, keys, update);
      },
    });
  return { clock, open, network };
}

/** Advances the clock in steps in which renewals can run. */
async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 100_000) {
    clock.advance(Math.min(left, 100_000));
    await flushPromises();
  }
}

const usageOf = async (limiter: RateLimiter) => {
  const { spent, reserved, remaining } = (await limiter.peek('acme')).limits.default!;
  return { spent, reserved, remaining };
};

test.each([
  [{ lease: 0 }, 'Expected `lease`'],
  [{ lease: '10m', unsettled: 'keep' }, "Expected `unsettled` to be one of 'refund', 'charge', got \"keep\" (string)"],
  [{ unsettled: 'charge' }, 'Expected `unsettled` to be no value without `lease`, got "charge" (string)'],
])('%j is rejected', (options, message) => {
  expect(() => calendarWindow({ limit: 1, period: 'month', ...options } as never)).toThrow(message);
});

test('a release of slots after a settlement leaves what the settlement has spent', async () => {
  const limits = { calls: budget(), inFlight: concurrency({ limit: 2, lease: '30s' }) };
  const { clock, open } = sharedStores();
  const lost: Decision[] = [];
  const limiter = new RateLimiter({ limits, store: open(), onLeaseLost: (loss) => lost.push(loss.decision) });
  const decision = await limiter.check('acme', { cost: { calls: 50 } });
  await limiter.settle(decision, { cost: { calls: 20 } });
  clock.advance(10_000); // Renews the slot alone.
  await flushPromises();
  expect(lost).toEqual([]);
  await limiter.release(decision);
  const { calls, inFlight } = (await limiter.peek('acme')).limits;
  expect([calls.spent, calls.reserved, inFlight.remaining]).toEqual([20, 0, 2]);
});

test('a caller of `wait` starts when a settlement returns units', async () => {
  const limiter = new RateLimiter({ limits: budget(), store: memoryStore() });
  const decision = await limiter.check('acme', { cost: 90 });
  const waiting = limiter.wait('acme', { cost: 50 });
  await flushPromises();
  await limiter.settle(decision, { cost: 10 });
  expect(await waiting).toMatchObject({ allowed: true, remaining: 40 });
});

describe('when processes share a store', () => {
  test('a living process keeps its reservation, and that of a dead one comes back after one lease', async () => {
    const { clock, open } = sharedStores();
    const [living, dead] = [open(), open()].map((store) => new RateLimiter({ limits: budget(), store }));
    await living!.check('acme', { cost: 30 });
    await dead!.check('acme', { cost: 70 });
    await dead!.close();
    await pass(clock, LEASE_MS - 1);
    expect(await usageOf(living!)).toEqual({ spent: 0, reserved: 100, remaining: 0 });
    await pass(clock, 1);
    expect(await usageOf(living!)).toEqual({ spent: 0, reserved: 30, remaining: 70 });
    await pass(clock, 5 * LEASE_MS);
    expect(await usageOf(living!)).toEqual({ spent: 0, reserved: 30, remaining: 70 });
    await living!.close();
  });

  test('a settlement in the next period counts there in full', async () => {
    const { clock, open } = sharedStores();
    const lost: Decision[] = [];
    const limiter = new RateLimiter({
      limits: budget(),
      store: open(),
      onLeaseLost: ({ decision }) => lost.push(decision),
    });
    clock.advance(Date.parse('2026-03-31T23:59:00Z') - clock.now());
    const decision = await limiter.check('acme', { cost: 70 });
    await pass(clock, 2 * LEASE_MS);
    expect(await usageOf(limiter)).toEqual({ spent: 0, reserved: 0, remaining: 100 });
    await limiter.settle(decision, { cost: 60 });
    expect(await usageOf(limiter)).toEqual({ spent: 60, reserved: 0, remaining: 40 });
    expect(lost).toEqual([]); // The end of a period is no reason to stop the work.
  });

  test('a process that could renew nothing for a lease learns that its reservation is gone', async () => {
    const { clock, open, network } = sharedStores();
    const lost: Decision[] = [];
    const cut = new RateLimiter({
      limits: budget(),
      store: open(),
      onLeaseLost: ({ decision }) => lost.push(decision),
    });
    const decision = await cut.check('acme', { cost: 70 });
    network.isDown = true;
    await pass(clock, LEASE_MS);
    network.isDown = false;
    expect(lost).toEqual([decision]);
    const other = new RateLimiter({ limits: budget(), store: open() });
    await other.charge('acme', { cost: 90 });
    await cut.settle(decision, { cost: 20 });
    expect(await usageOf(other)).toEqual({ spent: 110, reserved: 0, remaining: 0 });
  });
});
