import { type CalendarWindowOptions, calendarWindow } from '@rollgate/calendar';
import { effort, randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import { IANAZone } from 'luxon';
import { everyDays, everyMonths, type FirstDays, periodOfDays, periodOfHour } from './luxon-periods.js';

/** Zones with changes at midnight, by half an hour and by a day, with odd offsets, and many ordinary ones. */
const ZONES = [
  ...['America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Apia', 'America/Havana', 'Asia/Kathmandu', 'Africa/Monrovia'],
  ...['Europe/Berlin', 'America/New_York', 'Asia/Shanghai', 'Pacific/Kwajalein', 'America/Sao_Paulo', 'Asia/Kolkata'],
  ...['UTC', 'America/Asuncion', 'Asia/Tehran', 'Asia/Beirut', 'Asia/Amman', 'Africa/Cairo', 'Africa/Casablanca'],
  ...['America/Santiago', 'America/Los_Angeles', 'America/Scoresbysund', 'Antarctica/Troll', 'Asia/Pyongyang'],
  ...['Atlantic/Azores', 'Europe/Dublin', 'Europe/London', 'Europe/Moscow', 'Pacific/Auckland', 'Pacific/Chatham'],
  ...['Pacific/Kiritimati', 'Pacific/Marquesas', 'Pacific/Norfolk', 'Asia/Gaza', 'America/Caracas', 'Asia/Colombo'],
  ...['America/Godthab', 'Asia/Dhaka', 'Australia/Sydney', 'Asia/Tokyo'],
];

const FIRST_YEAR = 1970;
const END_YEAR = effort(2050, 2100);

type Period = Omit<CalendarWindowOptions, 'limit' | 'timeZone'>;

/** Options, and the first days of the same periods. Without these, they are hours. */
const PERIODS: [Period, FirstDays | undefined][] = [
  [{ period: 'month', anchor: 31 }, everyMonths(1970, 1, 31, 1)],
  [{ period: 'year', anchor: '2024-02-29' }, everyMonths(2024, 2, 29, 12)],
  [{ period: { months: 3 } }, everyMonths(1970, 1, 1, 3)],
  [{ period: { months: 5 }, anchor: '2026-01-15' }, everyMonths(2026, 1, 15, 5)],
  [{ period: 'year' }, everyMonths(1970, 1, 1, 12)],
  [{ period: 'week' }, everyDays(Date.UTC(1970, 0, 5), 7)],
  [{ period: 'week', anchor: 'sunday' }, everyDays(Date.UTC(1970, 0, 4), 7)],
  [{ period: 'week', anchor: '2026-11-25' }, everyDays(Date.UTC(2026, 10, 25), 7)],
  [{ period: 'month' }, everyMonths(1970, 1, 1, 1)],
  [{ period: 'day' }, everyDays(0, 1)],
  [{ period: 'hour' }, undefined],
];

const expectedAt = (timeZone: string, days: FirstDays | undefined, ms: number) => {
  const zone = IANAZone.create(timeZone);
  return days === undefined ? periodOfHour(zone, ms) : periodOfDays(zone, days, ms);
};

function actualAt(options: CalendarWindowOptions, ms: number): { start: number; end: number } {
  const { startMicros, endMicros } = calendarWindow(options).calendar.periodAt(ms * 1000);
  return { start: startMicros / 1000, end: endMicros / 1000 };
}

/** Skips the hours of a day whose clock does not change, all but the first one. */
function nextHour(timeZone: string, at: number): number {
  const zone = IANAZone.create(timeZone);
  const isOrdinary = [12, 24, 36].every((hours) => zone.offset(at + hours * 3600e3) === zone.offset(at));
  return isOrdinary ? at + 24 * 3600e3 : at;
}

test.each(ZONES.slice(0, effort(4, ZONES.length)))('every period in %s begins when luxon says', (timeZone) => {
  for (const [period, days] of PERIODS.slice(0, effort(2, PERIODS.length))) {
    const { calendar } = calendarWindow({ limit: 1, timeZone, ...period });
    for (let at = Date.UTC(FIRST_YEAR, 0, 1); at < Date.UTC(END_YEAR, 0, 1); ) {
      const expected = expectedAt(timeZone, days, at);
      const { startMicros, endMicros } = calendar.periodAt(at * 1000);
      if (startMicros !== expected.start * 1000 || endMicros !== expected.end * 1000) {
        expect({ period, at, start: startMicros / 1000, end: endMicros / 1000 }).toEqual({ period, at, ...expected });
      }
      at = days === undefined ? nextHour(timeZone, expected.end) : expected.end;
    }
  }
});

const anyTime = fc.integer({ min: Date.UTC(FIRST_YEAR, 0, 1), max: Date.UTC(END_YEAR, 0, 1) });

test('the period of any time within a second of a boundary is that of luxon', () => {
  const property = fc.property(
    fc.constantFrom(...ZONES),
    fc.constantFrom(...PERIODS),
    anyTime,
    fc.integer({ min: -1000, max: 1000 }),
    (timeZone, [period, days], time, difference) => {
      const ms = expectedAt(timeZone, days, time).end + difference;
      expect(actualAt({ limit: 1, timeZone, ...period }, ms)).toEqual(expectedAt(timeZone, days, ms));
    },
  );
  fc.assert(property, randomRuns(400, 200_000));
});
