import assert from 'node:assert/strict';
import * as core from '@rollgate/core';
import * as express from '@rollgate/express';
import fc from 'fast-check';
import { parseSearch, toSearch } from '../src/link.js';
import { FRAMEWORKS, parseCode, toCode } from '../src/page/code.js';
import {
  ALGORITHMS,
  type Algorithm,
  attackTimes,
  DEFAULT_SETTINGS,
  mostOf,
  Race,
  type Row,
  type Settings,
  startsOf,
  toLimit,
  worstBurst,
} from '../src/race.js';

const NAMES = Object.keys(ALGORITHMS) as Algorithm[];
const CHANGED: Settings = { algorithm: 'token', limit: 5, windowMs: 4000, minDifferenceMs: 500 };

const most = (race: Race, row: Row) => mostOf(race, row).count;

test.each([
  [10, 5000],
  [1, 2000],
  [50, 60_000],
])('the attack on a limit of %i gets one less than twice the limit, and twice the limit', (limit, windowMs) => {
  const race = new Race({ ...DEFAULT_SETTINGS, limit, windowMs });
  for (const atMs of attackTimes(race.settings)) race.add(atMs);
  expect(['express', 'fixed', 'rolling'].map((row) => most(race, row as Row))).toEqual([
    2 * limit - 1,
    2 * limit,
    limit,
  ]);
});

test('the worst burst is the most starts in any window, counted naively', () => {
  const times = fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 40 });
  fc.assert(
    fc.property(times, fc.integer({ min: 1, max: 100 }), (given, windowMs) => {
      const starts = [...given].sort((one, other) => one - other);
      const counts = starts.map((toMs) => starts.filter((atMs) => atMs <= toMs && atMs > toMs - windowMs).length);
      const { count, fromMs, toMs } = worstBurst(starts, windowMs);
      expect(count).toBe(Math.max(0, ...counts));
      expect(starts.filter((atMs) => atMs >= fromMs && atMs <= toMs).length).toBeGreaterThanOrEqual(count);
    }),
  );
});

test('no request starts beyond the limit of a rolling window, and the counters restart where the chart shows it', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 6 }), (given, limit) => {
      const race = new Race({ ...DEFAULT_SETTINGS, limit, windowMs: 2000 });
      let atMs = 0;
      for (const gap of [0, ...given]) {
        atMs += gap;
        race.add(atMs);
      }
      for (const row of ['rolling', 'bucketed', 'leaky'] as const) assert.ok(most(race, row) <= limit, row);
      for (const row of ['express', 'fixed'] as const) {
        const edges = [0, ...race.restarts(row, 0, atMs), Infinity];
        for (const [index, fromMs] of edges.slice(0, -1).entries()) {
          const starts = startsOf(race.shots, row).filter((start) => start >= fromMs && start < edges[index + 1]!);
          assert.ok(starts.length <= limit, row);
        }
      }
    }),
  );
});

test('a link contains what differs from the defaults, and replays the requests', () => {
  expect(toSearch({ settings: DEFAULT_SETTINGS, times: [], showsAll: false })).toBe('');
  const link = { settings: CHANGED, times: [0, 900, 900, 900, 4001], showsAll: true };
  const search = '?algorithm=token&limit=5&window=4s&minDifference=0.5s&rows=all&t=0,0.9x3,4.001';
  expect(toSearch(link)).toBe(search);
  expect(parseSearch(search)).toEqual(link);
});

test.each([
  ...['?algorithm=magic', '?algorithm=constructor', '?limit=0', '?limit=1001', '?limit=ten', '?limit=', '?limit=1.5'],
  ...['?window=1s', '?window=4000', '?minDifference=6s', '?minDifference=-1s', '?rows=none', ''],
  ...['?t=1,0', '?t=x', '?t=0x2000', '?t=0,,1', '?t=-1'],
])('the link %j has nothing valid, so the defaults stay', (search) => {
  expect(parseSearch(search)).toEqual({ settings: DEFAULT_SETTINGS, times: [], showsAll: false });
});

describe.each(FRAMEWORKS.map((framework) => [framework.name, framework] as const))(
  'the code for %s',
  (_, framework) => {
    test.each(NAMES)('creates the limit of the playground with %s, and is read again', (algorithm) => {
      for (const settings of [DEFAULT_SETTINGS, { ...CHANGED, minDifferenceMs: 0 }, CHANGED].map((each) => ({
        ...each,
        algorithm,
      }))) {
        const code = toCode(settings, framework);
        expect(parseCode(code)).toEqual({
          ...settings,
          minDifferenceMs: algorithm === 'leaky' ? 0 : settings.minDifferenceMs,
        });
        const [, options] = /\((?:rateLimit, )?(\{[^;]*\})\)/.exec(code) ?? [];
        const { limits, ...short } = new Function(...Object.keys(core), `return ${options}`)(...Object.values(core));
        expect(JSON.stringify(limits ?? core.rollingWindow(short))).toBe(JSON.stringify(toLimit(settings)));
      }
    });
  },
);

test('the code for Express runs', () => {
  const code = toCode(CHANGED, FRAMEWORKS[0]!);
  const [, names, body] = /^import \{ (.+) \} from '@rollgate\/express';\n\n(.+)$/s.exec(code)!;
  const used: unknown[] = [];
  const app = { use: (middleware: unknown) => used.push(middleware) };
  new Function('app', 'exported', `const { ${names} } = exported;\n${body}`)(app, express);
  expect(used).toEqual([expect.any(Function)]);
});

test.each([
  ["rateLimit({ limits: '7/30s' })", { ...DEFAULT_SETTINGS, limit: 7, windowMs: 30_000 }],
  ['rateLimit({ "window": "1m", limit: 1_0 })', { ...DEFAULT_SETTINGS, windowMs: 60_000 }],
  ['fixedWindow({limit:3,window:2500})', { ...DEFAULT_SETTINGS, algorithm: 'fixed', limit: 3, windowMs: 2500 }],
])('%s is understood', (code, settings) => {
  expect(parseCode(code.replace('"window"', 'window'))).toEqual(settings);
});

test.each([
  ["rateLimit({ window: '5s' })", /^Expected `limit` to be an integer from 1 to 1000/],
  ['rateLimit({ limit: 10 })', /^Expected `window` to be a time such as '5s', got nothing/],
  ["rateLimit({ limit: 10, window: '5 hours' })", /^Expected `window` to be a time such as '5s', got 5 hours/],
  ["rateLimit({ limit: 10, window: '5m' })", /^Expected `windowMs` to be an integer from 2000 to 60000, got 300000/],
  ["tokenBucket({ capacity: 10, refill: 1, every: '5s' })", /^Here, `refill` must be the same as `capacity`/],
])('%s gets a message', (code, message) => {
  expect(() => parseCode(code)).toThrow(message);
});
