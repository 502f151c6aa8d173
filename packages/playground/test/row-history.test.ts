import type { Decision } from '@rollgate/core';
import { flushPromises } from '@rollgate/test-support/flush-promises';
import { MemoryBackend } from '../src/engine/backend.js';
import { Playground } from '../src/engine/playground.js';
import { describeResult } from '../src/page/describe-run.js';
import { explain } from '../src/page/explain.js';
import { RowHistory } from '../src/page/row-history.js';
import type { Attempt, Delays, RunState } from '../src/shared/protocol.js';
import { DEFAULT_SETTINGS, ROW_NAMES, type RowName, type Settings } from '../src/shared/settings.js';

const WINDOW_MS = 10_000;
const BOUNDARY_MS = 100_000;

/** An attempt that the given rows allowed. */
function attempt(atMs: number, allowedBy: readonly RowName[], more: Partial<Attempt> = {}): Attempt {
  const delays = Object.fromEntries(ROW_NAMES.map((name) => [name, allowedBy.includes(name) ? 0 : null])) as Delays;
  const rules = { limit: 2, windowMs: WINDOW_MS, minDifferenceMs: 0, countedFromMs: 0 };
  const limits = { ...rules, remaining: 0, degraded: false };
  return { id: String(atMs), atMs, delayMs: 0, allowed: true, delays, ...limits, ...more };
}

/** Two requests before a boundary and two after, as of an attack on a limit of two. */
const ATTACK = [
  ...[-400, -399].map((ms) => attempt(BOUNDARY_MS + ms, ['rolling', 'fixed'], { run: 'boundary-1' })),
  ...[400, 401].map((ms) => attempt(BOUNDARY_MS + ms, ['fixed'], { run: 'boundary-1' })),
];
const row = (name: RowName, attempts = ATTACK) => new RowHistory(name, attempts);

/** A playground whose clock shows `micros`, and the test's requests to it. */
class Engine {
  micros = 1_795_000_000_000_000;
  /** How far a reading of the clock may move it, as on a busy machine. */
  driftMicros = 0;
  readonly playground = new Playground(new MemoryBackend({ now: () => this.#now() }));

  static async start(settings: Partial<Settings>): Promise<Engine> {
    const engine = new Engine();
    await engine.playground.open();
    await engine.playground.change({ ...DEFAULT_SETTINGS, ...settings });
    return engine;
  }

  /** Sends requests, and returns a function that aborts the last one. */
  async send(count: number): Promise<() => void> {
    let abort = () => {};
    for (let index = 0; index < count; index++) {
      const decision: Decision = await this.playground.check();
      abort = this.playground.record(decision, undefined);
      await flushPromises();
    }
    return abort;
  }

  get attempts(): readonly Attempt[] {
    return this.playground.log.records.attempts;
  }

  #now(): number {
    if (this.driftMicros > 0) this.micros += (this.micros * 7) % this.driftMicros;
    return this.micros / 1000;
  }
}

test('requests beyond the limit are in the row of the algorithm that allowed them', () => {
  expect(row('rolling').marks.map(({ state }) => state)).toEqual(['allowed', 'allowed', 'rejected', 'rejected']);
  expect(row('fixed').marks.map(({ state }) => state)).toEqual(['allowed', 'allowed', 'beyond', 'beyond']);
  expect(row('fixed').excesses).toEqual([
    { run: 'boundary-1', fromMs: BOUNDARY_MS - 400, toMs: BOUNDARY_MS + 401, count: 4 },
  ]);
  expect(row('rolling').excesses).toEqual([]);
});

test('the most in any window counts only what arrived since a moment, and has started', () => {
  expect(row('fixed').most(0, Infinity)).toBe(4);
  expect(row('fixed').most(BOUNDARY_MS, Infinity)).toBe(2);
  expect(row('fixed').most(0, BOUNDARY_MS)).toBe(2);
  expect(row('rolling').most(0, Infinity)).toBe(2);
});

test('a hit counts until its window has passed, and no longer', () => {
  const attempts = [0, 1, WINDOW_MS].map((atMs) => attempt(atMs, ['token']));
  expect(row('token', attempts).marks.map(({ count }) => count)).toEqual([1, 2, 2]);
});

test('starts are whole microseconds, so a rounding error never moves one into an earlier window', () => {
  const startsMicros = Array.from({ length: 300 }, (_, slot) => 1_795_000_000_123_457 + slot * 3_333_334);
  const attempts = startsMicros.map((micros, slot) => {
    const delayMicros = (slot * 7_919) % 9_999_999;
    const delays = { ...attempt(0, []).delays, leaky: delayMicros / 1000 };
    return { ...attempt((micros - delayMicros) / 1000, []), delays, windowMs: 10_000, limit: 3, id: String(slot) };
  });
  const leaky = row('leaky', attempts);
  expect(leaky.marks.filter(({ state }) => state !== 'allowed')).toEqual([]);
  expect(leaky.marks.map(({ micros }) => micros)).toEqual(startsMicros);
});

test.each([
  { limit: 5, windowMs: 4000 },
  { limit: 3, windowMs: 10_000 }, // Three starts within ten seconds are not whole milliseconds apart.
])(
  'a request is on record by the time of its decision: no exact row exceeds $limit per $windowMs ms',
  async (rules) => {
    for (const algorithm of ['rolling', 'leaky'] as const) {
      const engine = await Engine.start({ ...rules, algorithm });
      engine.driftMicros = 1009;
      for (let request = 0; request < 300; request++) {
        engine.micros += 50_000;
        await engine.send(1);
      }
      for (const name of ['rolling', 'bucketed', 'leaky'] as const) {
        const { marks } = row(name, [...engine.attempts]);
        expect(marks.filter(({ state }) => state === 'allowed').length).toBeGreaterThan(rules.limit);
        expect(marks.filter(({ state }) => state === 'beyond')).toEqual([]);
      }
    }
  },
);

test('the fixed window from the first request starts with the first request, and again after its end', async () => {
  const engine = await Engine.start({ limit: 3, windowMs: 4000 });
  let [endMicros, used] = [-Infinity, 0];
  const expected: (number | null)[] = [];
  for (let request = 0; request < 200; request++) {
    engine.micros += (request * 7_919_333) % 1_500_000;
    if (engine.micros >= endMicros) [endMicros, used] = [engine.micros + 4_000_000, 0];
    used += 1;
    expected.push(used <= 3 ? 0 : null);
    const { first } = await engine.playground.next();
    expect(Math.round(first.allowedAtMs * 1000)).toBe(used <= 3 ? engine.micros : endMicros);
    await engine.send(1);
  }
  expect(engine.attempts.map(({ delays }) => delays.first)).toEqual(expected);
});

test('the worst burst of a fixed window from the first request is twice the limit less one', async () => {
  const engine = await Engine.start({ limit: 10, windowMs: 10_000 });
  for (const [micros, count] of [
    ...[[0, 1] as const, [9_999_999, 20] as const, [1, 20] as const], // A window starts with the first one.
  ]) {
    engine.micros += micros;
    await engine.send(count);
  }
  const first = row('first', [...engine.attempts]);
  expect(first.most(0, Infinity)).toBe(19);
  expect(first.excesses).toMatchObject([{ count: 19 }]);
  engine.micros += 1;
  await engine.playground.startOver(false);
  await engine.send(1);
  expect(engine.attempts.at(-1)!.delays.first).toBe(0);
});

test('a request that was aborted before its start counts in no row', async () => {
  const engine = await Engine.start({ limit: 1, algorithm: 'leaky' });
  await engine.send(1);
  engine.micros += 10_000_000;
  const abort = await engine.send(1);
  expect(engine.attempts.at(-1)!.delays).toMatchObject({ rolling: 0, first: 0 });
  abort();
  await flushPromises();
  await engine.send(1);
  expect(engine.attempts.at(-1)!.delays).toMatchObject({ rolling: 0, first: 0 });
});

test('an excess consists of the requests of one scenario', () => {
  const again = ATTACK.map((one) => ({ ...one, id: `${one.id}-again`, atMs: one.atMs + 2000, run: 'burst-2' }));
  const fixed = row('fixed', [...ATTACK, ...again]);
  expect(fixed.marks.at(-1)!.count).toBe(8);
  expect(fixed.excesses.map(({ run, fromMs, count }) => [run, fromMs, count])).toEqual([
    ['boundary-1', BOUNDARY_MS - 400, 4],
    ['burst-2', BOUNDARY_MS + 1600, 4],
  ]);
});

test('requests from before all limits started over are not counted', () => {
  const later = ATTACK.map((one) => ({
    ...one,
    id: `${one.id}-later`,
    atMs: one.atMs + 1000,
    countedFromMs: BOUNDARY_MS + 500,
  }));
  const fixed = row(
    'fixed',
    [...ATTACK, ...later].sort((a, b) => a.atMs - b.atMs),
  );
  expect(fixed.marks.filter(({ state }) => state === 'beyond')).toHaveLength(4);
  expect(Math.max(...fixed.marks.map(({ count }) => count))).toBe(4);
  const around = [-1, 1].map((windows) => (BOUNDARY_MS + windows * WINDOW_MS) * 1000) as [number, number];
  expect(fixed.startedBetween(...around, BOUNDARY_MS + 500)).toBe(4);
});

test('each decision is explained', () => {
  const texts = (name: RowName, attempts = ATTACK) => {
    const history = row(name, attempts);
    return history.marks.map((mark) => explain(history, mark));
  };
  expect(texts('rolling')).toEqual([
    'Allowed: number 1 of 2 in 10 s.',
    'Allowed: number 2 of 2 in 10 s.',
    'Rejected: 2 in the 10 s before. The oldest expires 9.2 s later.',
    'Rejected: 2 in the 10 s before. The oldest expires 9.2 s later.',
  ]);
  expect(texts('fixed').slice(2)).toEqual([
    'Allowed beyond the limit: number 3 within 0.8 s, 1.5 × the limit. The counter had restarted 0.4 s before.',
    'Allowed beyond the limit: number 4 within 0.8 s, 2 × the limit. The counter had restarted 0.4 s before.',
  ]);
  expect(texts('token')[0]).toBe('Rejected: no token was left. One more comes every 5 s.');
  expect(texts('first')[0]).toBe(
    'Rejected: the counter was at 2. It restarts with the first request after its window.',
  );
  const spaced = [attempt(0, ['rolling']), attempt(200, [], { minDifferenceMs: 500 })];
  expect(texts('rolling', spaced)[1]).toBe(
    'Rejected: only 0.2 s after the last one, and the minimum difference is 0.5 s.',
  );
});

describe('the result of a scenario', () => {
  const run: RunState = {
    ...{ id: 'boundary-1', scenario: 'boundary', isAuto: false, planned: [], status: 'done', isOutdated: false },
    settings: { ...DEFAULT_SETTINGS, limit: 2 },
    outcomes: { allowed: 2, rejected: 2, failed: 0, canceled: 0, lost: 0 },
  };

  test('names both windows, and why they differ', () => {
    expect(describeResult(run, row)).toBe(
      'The rolling window allowed 2 of 4 requests, because it always counts the last 10 s. ' +
        'The fixed window allowed 4 within 0.8 s, 2 × the limit, because its counter restarted between them.',
    );
    const token = { ...run, settings: { ...run.settings, algorithm: 'token' } } as const;
    expect(describeResult(token, row)).toMatch(/ The token bucket allowed 0\.$/);
    const first = { ...run, scenario: 'first' } as const;
    const opened = ATTACK.map((one) => ({ ...one, delays: { ...one.delays, first: one.delays.fixed } }));
    expect(describeResult(first, (name) => row(name, opened))).toMatch(
      / The fixed window from the first request allowed 4 within 0\.8 s, 2 × the limit, because /,
    );
  });

  test('is only about its own requests', () => {
    const before = [1500, 1000].map((ms) => attempt(BOUNDARY_MS - ms, ['fixed'], { run: 'burst-0' }));
    expect(describeResult(run, (name) => row(name, [...before, ...ATTACK]))).toContain(
      'The fixed window allowed 4 within 0.8 s, 2 × the limit',
    );
  });
});
