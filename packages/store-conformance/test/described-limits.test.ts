import { type CalendarWindowOptions, calendarWindow } from '@rollgate/calendar';
import { block, type Limit, RateLimiter } from '@rollgate/core';
import { createLimit, describedLimiters, describeLimiter, type LimitDescription } from '@rollgate/core/observe';
import { createStore, type StoreInspection } from '@rollgate/core/store';
import fc from 'fast-check';
import {
  type AlgorithmName,
  algorithmNames,
  algorithmOf,
  closingNames,
  limitOf,
  mayReport,
  toSpec,
  vectors,
} from '../src/algorithms.js';

/** Describes a limit in a store, and reads the description. */
async function descriptionOf(limit: Limit): Promise<LimitDescription> {
  const notes: string[] = [];
  const inspection: StoreInspection = {
    options: {},
    listKeys: () => ({ keys: [], next: undefined }),
    writeNote: (_, text) => void notes.push(text),
    readNotes: () => notes,
  };
  const store = Object.assign(Object.create(createStore({ transact() {} })), { inspection });
  const description = describeLimiter(new RateLimiter({ name: 'any', limits: { limit }, store }));
  await description.ready;
  description.close();
  return (await describedLimiters(store))[0]!.limits['limit']!;
}

async function expectSame(limit: Limit): Promise<void> {
  expect(createLimit(await descriptionOf(limit), calendarWindow)).toStrictEqual(limit);
}

/** The suite has tables of periods and of blocks, which no app has, and no description has the quota of a server. */
const OTHERS: readonly AlgorithmName[] = ['calendarWindow', 'block', 'reportedQuota'];
const described = algorithmNames.filter((name) => !OTHERS.includes(name));

test.each(described)('%s has the same settings after it was described and created again', async (name) => {
  const { tiny, large, small } = algorithmOf(name);
  const ofVectors = vectors[name as AlgorithmName].map(({ limit }) => limit.options);
  const random = ([1, 3, 7] as const).flatMap((fractions) => [
    ...large(fractions),
    ...fc.sample(small(fractions), { numRuns: 30, seed: fractions }),
  ]);
  const all = [...tiny, ...ofVectors, ...random];
  expect(all.length).toBeGreaterThan(90);
  const specs = all.map((options) => toSpec(name, options));
  for (const spec of specs) await expectSame(limitOf(spec));
  for (const spec of specs.filter(mayReport)) await expectSame(limitOf({ ...spec, enforce: false }));
});

test.each(closingNames.filter((name) => !OTHERS.includes(name)))(
  '%s keeps its blockFor, of any length',
  async (name) => {
    for (const blockFor of [0.001, 1.5, 900_000]) {
      const limit = limitOf(toSpec(name, { ...algorithmOf(name).tiny[0]!, blockFor }));
      expect(limit.blockFor).toBeDefined();
      await expectSame(limit);
    }
  },
);

test('so has a block', () => expectSame(block()));

const calendars: readonly CalendarWindowOptions[] = [
  { limit: 9, period: 'hour' },
  { limit: Infinity, period: 'hour', timeZone: 'Asia/Kathmandu' },
  { limit: 0, period: 'day' },
  { limit: 9, period: 'day', enforce: false },
  { limit: 9, period: 'week', anchor: 'sunday' },
  { limit: 9, period: 'month', anchor: 31, timeZone: 'Europe/Berlin' },
  { limit: 9, period: { months: 3 }, lease: '1m' },
  { limit: 9, period: 'year', lease: 1500, unsettled: 'charge' },
  { limit: 9, period: 'day', blockFor: '15m' },
];

test.each(calendars)('a calendar window of %j has the same settings, too', async (options) => {
  const limit = calendarWindow(options);
  const created = createLimit(await descriptionOf(limit), calendarWindow);
  expect(JSON.stringify(created)).toBe(JSON.stringify(limit));
  expect(await descriptionOf(created)).toEqual(await descriptionOf(limit));
});

test.each([
  [{ algorithm: 'calendar-window', options: { limit: 5, period: 'day' } }],
  [{ algorithm: 'toString' }],
  [{ algorithm: 'rolling-window', options: { limit: -1, window: '1s' } }],
])('%j is no limit', (description) => {
  expect(() => createLimit(description)).toThrow(expect.objectContaining({ code: 'ERR_ROLLGATE_INVALID_OPTION' }));
});
