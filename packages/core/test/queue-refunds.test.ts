import { type Decision, leakyBucket, MemoryStore, RateLimiter } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { MAX_GAPS } from '../src/limits/queue-gaps';

const HOUR_MS = 3_600_000;

/** A queue on a clock that stands still, and its decisions in the order of their starts. */
async function fill(capacity: number) {
  const store = new MemoryStore({ clock: { now: () => 0 } });
  const limiter = new RateLimiter({ limits: leakyBucket({ capacity, interval: '1h' }), store });
  const decisions: Decision[] = [];
  for (let start = 0; start <= capacity; start++) decisions.push(await limiter.check('queue'));
  return { store, limiter, decisions, peek: () => limiter.peek('queue') };
}

/** The same order in each run. */
function shuffle<Item>(items: readonly Item[]): Item[] {
  let seed = 7;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed;
  };
  return items
    .map((item) => [random(), item] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, item]) => item);
}

test.each([
  ['first to last', (all: Decision[]) => all],
  ['last to first', (all: Decision[]) => all.toReversed()],
  ['in random order', shuffle],
])('a queue whose starts are refunded %s equals a new one', async (_, order) => {
  const { limiter, decisions, peek } = await fill(90);
  for (const decision of order(decisions)) await limiter.refund(decision);
  const fresh = await (await fill(90)).limiter.peek('other');
  expect(await peek()).toEqual(fresh);
});

test('a start that a caller of the store refunds twice is free once', async () => {
  class Twice extends MemoryStore {
    override refund(receipt: unknown) {
      super.refund(receipt);
      super.refund(receipt);
    }
  }
  const store = new Twice({ clock: { now: () => 0 } });
  const limiter = new RateLimiter({ limits: leakyBucket({ capacity: 3, interval: '1h' }), store });
  const starts: Decision[] = [];
  for (let start = 0; start < 3; start++) starts.push(await limiter.check('queue'));
  await limiter.refund(starts[1]!);
  await limiter.refund(starts[2]!);
  await limiter.check('queue');
  await limiter.refund(await limiter.check('queue'));
  expect((await limiter.peek('queue')).delayMs).toBe(2 * HOUR_MS);
});

test('a key keeps the latest 64 gaps', async () => {
  const { store, limiter, decisions, peek } = await fill(2 * MAX_GAPS + 10);
  const odd = decisions.filter((_, start) => start % 2 === 1);
  for (const decision of shuffle(odd)) await limiter.refund(decision);
  const [{ state }] = store.toJSON() as unknown as [{ state: { gaps: number[] } }];
  expect(state.gaps).toHaveLength(2 * MAX_GAPS);
  expect(state.gaps).toEqual(state.gaps.toSorted((one, other) => one - other));
  for (const decision of shuffle(decisions.filter((_, start) => start % 2 === 0))) await limiter.refund(decision);
  // The five earliest gaps were dropped: the starts ahead of the fifth one's end stay taken.
  expect((await peek()).delayMs).toBe(10 * HOUR_MS);
});

test('a queue that is never empty does not collect gaps', async () => {
  let now = 0;
  const store = new MemoryStore({ clock: { now: () => now } });
  const limiter = new RateLimiter({ limits: leakyBucket({ capacity: 10, interval: 1000 }), store });
  for (let turn = 0; turn < 500; turn++) {
    const leaves = await limiter.check('queue');
    await limiter.check('queue');
    await limiter.refund(leaves);
    now += 2000;
  }
  const [{ state }] = store.toJSON() as unknown as [{ state: { gaps: number[] } }];
  expect(state.gaps.length).toBeLessThanOrEqual(12);
});

test('callers of `wait` that abort in any order, over several turns of the event loop, free all their starts', async () => {
  const store = new MemoryStore({ clock: { now: () => 0 } });
  const limiter = new RateLimiter({ limits: leakyBucket({ capacity: 90, interval: '1h' }), store });
  await limiter.check('queue');
  const aborts = Array.from({ length: 90 }, () => new AbortController());
  const waiting = aborts.map(({ signal }) => limiter.wait('queue', { signal }).catch(() => 'aborted'));
  while ((await limiter.peek('queue')).remaining > 0) await flushPromises();
  for (const [index, abort] of shuffle(aborts).entries()) {
    abort.abort();
    if (index % 10 === 0) await flushPromises();
  }
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['aborted']));
  await flushPromises();
  expect(await limiter.peek('queue')).toMatchObject({ remaining: 90, delayMs: HOUR_MS });
});
