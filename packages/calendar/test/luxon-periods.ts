import type { IANAZone } from 'luxon';

/** First days of periods as an index and the time of their midnight in UTC, without a library. */
export interface FirstDays {
  /** The midnight in UTC of the first day of the period with this index. */
  dayAt(index: number): number;
  /** An index close to that of the period that contains the time. */
  near(ms: number): number;
}

const HOUR = 3600e3;
const DAY = 24 * HOUR;

/** Every `length` days from a day on. */
export const everyDays = (first: number, length: number): FirstDays => ({
  dayAt: (index) => first + index * length * DAY,
  near: (ms) => Math.floor((ms - first) / (length * DAY)),
});

/** Every `length` months from a month on, on this day or on the last one of the month. */
export const everyMonths = (year: number, month: number, day: number, length: number): FirstDays => ({
  dayAt(index) {
    const at = year * 12 + month - 1 + index * length;
    const lastDay = new Date(Date.UTC(Math.floor(at / 12), (at % 12) + 1, 0)).getUTCDate();
    return Date.UTC(Math.floor(at / 12), at % 12, Math.min(day, lastDay));
  },
  near: (ms) =>
    Math.floor(((new Date(ms).getUTCFullYear() - year) * 12 + new Date(ms).getUTCMonth() + 1 - month) / length),
});

/** Parts of the time around `from` to `to`, each with one offset of the zone. */
function segmentsOf(zone: IANAZone, from: number, to: number): { start: number; end: number; offset: number }[] {
  const offsetAt = (ms: number) => Math.round(zone.offset(ms) * 60_000);
  const middle = (from + to) / 2;
  if (offsetAt(from) === offsetAt(to) && offsetAt(from) === offsetAt(middle)) {
    return [{ start: from, end: to, offset: offsetAt(from) }];
  }
  const segments = [{ start: from, end: to, offset: offsetAt(from) }];
  for (let at = from; at < to; at += HOUR) {
    const { offset } = segments.at(-1)!;
    if (offsetAt(at + HOUR) === offset) continue;
    let [before, after] = [at, at + HOUR];
    while (after - before > 1) {
      const between = Math.floor((before + after) / 2);
      if (offsetAt(between) === offset) before = between;
      else after = between;
    }
    segments.at(-1)!.end = after;
    segments.push({ start: after, end: to, offset: offsetAt(after) });
  }
  return segments;
}

/** The starts of the last days, because luxon takes long, and each start ends one period and begins the next one. */
const starts = new Map<string, number>();

/** The first time at which a clock in the zone shows this day or a later one. */
export function startOfDay(zone: IANAZone, day: number): number {
  const name = `${zone.name} ${day}`;
  const start = starts.get(name) ?? findStart(zone, day);
  if (starts.size > 1000) starts.clear();
  starts.set(name, start);
  return start;
}

function findStart(zone: IANAZone, day: number): number {
  for (const { start, end, offset } of segmentsOf(zone, day - 26 * HOUR, day + 50 * HOUR)) {
    const at = Math.max(start, day - offset);
    if (at < end) return at;
  }
  throw new Error(`No start of ${new Date(day).toISOString()} in ${zone.name}`);
}

/** The period that contains the time, by luxon. */
export function periodOfDays(zone: IANAZone, days: FirstDays, ms: number): { start: number; end: number } {
  let index = days.near(ms) - 1;
  while (startOfDay(zone, days.dayAt(index)) > ms) index -= 1;
  let end = startOfDay(zone, days.dayAt(index + 1));
  for (; end <= ms; end = startOfDay(zone, days.dayAt(index + 1))) index += 1;
  return { start: startOfDay(zone, days.dayAt(index)), end };
}

/** The hour that contains the time, by luxon. It begins at a full hour or at a change of the offset. */
export function periodOfHour(zone: IANAZone, ms: number): { start: number; end: number } {
  const { start, end, offset } = segmentsOf(zone, ms - 2 * HOUR, ms + 2 * HOUR).find(
    (one) => one.start <= ms && ms < one.end,
  )!;
  const hour = ms - ((((ms + offset) % HOUR) + HOUR) % HOUR);
  return { start: Math.max(hour, start), end: Math.min(hour + HOUR, end) };
}
