import { manualClock, RateLimiter, RollingCounter, rollingWindow } from '@rollgate/core';
import { createStore, type StoredNumbers } from '@rollgate/core/store';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { OutageLog } from '@rollgate/test-support/outage-log';
import { silenceOutages } from '@rollgate/test-support/silence-outages';
import { countWaits, PROBES, untilDecided } from '@rollgate/test-support/silent-writes';

silenceOutages();

const TIMEOUT_MS = 1000;

/** A store in a `Map` that responds to every read, and to writes while `isSilent` is false. */
function createSilentStore() {
  const clock = manualClock();
  const data = new Map<string, StoredNumbers>();
  const silence = { isSilent: true, writes: 0 };
  const store = createStore({
    clock,
    async transact(keys, update, { isReadOnly }) {
      if (!isReadOnly) silence.writes += 1;
      if (!isReadOnly && silence.isSilent) await new Promise(() => {});
      update(keys.map((key) => data.get(key)?.numbers)).forEach((change, index) => {
        if (change === null) data.delete(keys[index]!);
        else if (change !== undefined) data.set(keys[index]!, change);
      });
    },
  });
  return { clock, silence, store };
}

const open = () => {
  const { store, ...rest } = createSilentStore();
  const limits = rollingWindow({ limit: 1000, window: '1h' });
  const limiter = new RateLimiter({ limits, store, timeout: TIMEOUT_MS, onStoreError: 'allow' });
  return { ...rest, store, limiter };
};

test('one check after each probe waits for a store that is silent when it writes', async () => {
  const { limiter, clock, store, silence } = open();
  const log = new OutageLog(store);
  const waits = await countWaits(limiter, clock, TIMEOUT_MS, flushPromises);
  expect(waits).toBeGreaterThan(2);
  expect(waits).toBeLessThanOrEqual(PROBES);
  expect(silence.writes).toBe(1 + waits);
  expect(log.summary).toEqual(['silence']);
  silence.isSilent = false;
  await untilDecided(limiter, clock, flushPromises);
  const decided = await Promise.all([1, 2, 3].map(() => limiter.check('ann')));
  expect(decided).toMatchObject([{ degraded: false }, { degraded: false }, { degraded: false }]);
  expect(log.summary).toEqual(['silence', 'recovery']);
  log.stop();
});

test('a store that is silent when it writes decides peeks', async () => {
  const { limiter, clock } = open();
  const timed = limiter.check('ann');
  clock.advance(TIMEOUT_MS);
  await timed;
  expect((await limiter.peek('ann')).degraded).toBe('allow'); // Sends a probe.
  await flushPromises();
  for (let peek = 0; peek < 3; peek++) expect(await limiter.peek('ann')).toMatchObject({ degraded: false });
  const trial = limiter.check('ann');
  clock.advance(TIMEOUT_MS);
  expect((await trial).degraded).toBe('allow');
  expect(await limiter.peek('ann')).toMatchObject({ degraded: false });
  expect(limiter.decide('ann')).toMatchObject({ degraded: 'allow' }); // No probe came between it and the trial.
});

test('a refund ends the silence of writes, and a store that is silent for peeks, too, decides none', async () => {
  const { limiter, clock, silence, store } = open();
  silence.isSilent = false;
  const decision = await limiter.check('ann');
  silence.isSilent = true;
  const timed = limiter.check('ann');
  clock.advance(TIMEOUT_MS);
  await timed;
  expect(limiter.decide('ann')).toMatchObject({ degraded: 'allow' });
  await flushPromises();
  jest.spyOn(store, 'peek').mockReturnValue(new Promise(() => {}));
  const peek = limiter.peek('ann');
  clock.advance(TIMEOUT_MS);
  expect((await peek).degraded).toBe('allow');
  expect((await limiter.peek('ann')).degraded).toBe('allow');
  silence.isSilent = false;
  await limiter.refund(decision);
  expect((await limiter.check('ann')).degraded).toBe(false);
});

test('a check that the store decides without a call is not the one that tries it', async () => {
  const { limiter, clock, silence, store } = open();
  const timed = limiter.check('ann');
  clock.advance(TIMEOUT_MS);
  const decision = await timed;
  expect(limiter.decide('ann')).toMatchObject({ degraded: 'allow' }); // Sends a probe.
  await flushPromises();
  jest.spyOn(store, 'check').mockReturnValueOnce({ ...decision, degraded: false });
  expect(limiter.decide('ann')).toMatchObject({ degraded: false });
  silence.isSilent = false;
  expect(await limiter.check('ann')).toMatchObject({ degraded: false });
  expect(await Promise.all([limiter.check('ann'), limiter.check('bob')])).toMatchObject([
    { degraded: false },
    { degraded: false },
  ]);
});

test('counts follow the same rule, and an addition of nothing is a read', async () => {
  const { clock, silence, store } = createSilentStore();
  const counter = new RollingCounter({ store, timeout: TIMEOUT_MS });
  const add = () => counter.add('ann', 1).then(() => 'added', String);
  const first = add();
  clock.advance(TIMEOUT_MS);
  expect(await first).toMatch('within 1000 ms');
  expect(await add()).toMatch('is down');
  await flushPromises();
  expect(await counter.count('ann', 1000)).toBe(0);
  const second = add();
  expect(await add()).toMatch('is down');
  clock.advance(TIMEOUT_MS);
  expect(await second).toMatch('within 1000 ms');
  silence.isSilent = false;
  clock.advance(8000);
  await add();
  await flushPromises();
  expect([await add(), await add()]).toEqual(['added', 'added']);
});
