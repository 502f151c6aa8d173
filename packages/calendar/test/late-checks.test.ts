import { concurrency, manualClock, rollingWindow } from '@rollgate/core';
import { createStore } from '@rollgate/core/store';
import { OutgoingLimiter, reportedQuota } from '@rollgate/fetch/outgoing';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { type Rows, updateRows } from '@rollgate/test-support/rows';
import { calendarWindow } from '../src';

// The store executes a check at once, and replies after the limiter's `timeout`.

const limits = {
  reported: reportedQuota({ lease: '1s' }),
  slots: concurrency({ limit: 1, lease: '1h' }),
  own: rollingWindow({ limit: 10, window: '1h' }),
  day: calendarWindow({ limit: 10, period: 'day', timeZone: 'UTC', lease: '1s' }),
};

function openStores() {
  const rows: Rows = new Map();
  const clock = manualClock(Date.UTC(2026, 5, 1, 12));
  const reply = { send: () => {} };
  const slow = createStore({
    clock,
    async transact(keys, update) {
      updateRows(rows, keys, update);
      await new Promise<void>((resolve) => Object.assign(reply, { send: resolve }));
    },
  });
  const fast = createStore({ clock, transact: (keys, update) => updateRows(rows, keys, update) });
  return { clock, slow, fast, reply };
}

test.each([
  { policy: 'deny', reported: 50 },
  { policy: 'throw', reported: 50 },
  { policy: 'allow', reported: 30 },
  { policy: 'fallback', reported: 30 },
] as const)('with $policy, a check that replies late leaves $reported of 50 units', async ({ policy, reported }) => {
  const { clock, slow, fast, reply } = openStores();
  const limiter = new OutgoingLimiter({ limits, store: slow, timeout: '50ms', onStoreError: policy });
  const other = new OutgoingLimiter({ limits, store: fast });
  const left = async () => {
    const { reported, slots, own, day } = (await other.peek('api')).limits;
    return [reported, slots, own, day].map(({ remaining }) => remaining);
  };
  await other.report('api', { reported: { reported: { remaining: 50, limit: 60, resetMs: 3_600_000 } } });
  const checked = limiter.check('api', { cost: { reported: 20 } }).catch((error: unknown) => error);
  await flushPromises();
  clock.advance(50);
  await checked;
  expect(await left()).toEqual([30, 0, 9, 9]);
  for (let replies = 0; replies < 3; replies++) {
    reply.send();
    await flushPromises();
  }
  expect(await left()).toEqual([reported, 1, 9, 9]);
  clock.advance(2000); // The leases have ended.
  expect(await left()).toEqual([reported, 1, 9, 10]);
  await Promise.all([limiter.close(), other.close()]);
});
