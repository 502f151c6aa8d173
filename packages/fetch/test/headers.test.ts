import { readRetryAfter, readStatus } from '../src/dialects/retry-after';
import { parseGoDuration, parseNumber, parseSeconds } from '../src/headers/numbers';
import { RemoteClock } from '../src/headers/remote-clock';
import { parseDate, parseReset } from '../src/headers/times';

test.each([
  ['100', 100],
  ['599.0', 599],
  [' 76;w=21600', 76],
  ['100, 100;w=60', 100],
  ['99999999999999999999', Number.MAX_SAFE_INTEGER],
  ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ['-1', undefined],
  ['1e3', undefined],
  ['', undefined],
  ['12 apples', undefined],
  [undefined, undefined],
])('the number of %j is %j', (text, number) => expect(parseNumber(text)).toBe(number));

test.each([
  ['6m0s', 360_000],
  ['1m26.4s', 86_400],
  ['7.66s', 7660],
  ['20ms', 20],
  ['1h0m0.5s', 3_600_500],
  ['250µs', 1],
  ['3', 3000],
  ['1d', undefined],
  ['6m 0s', undefined],
])('the duration %j is %j milliseconds', (text, ms) => expect(parseGoDuration(text)).toBe(ms));

const NOW = Date.parse('2026-03-01T12:00:00Z');

test.each([
  ['30', 30_000],
  ['0.25', 250],
  [String(NOW / 1000 + 90), 90_000],
  [String(NOW + 90), 90],
  [`${NOW + 30_000}000`, 30_000],
  [`${NOW + 30_000}000000`, 30_000],
  ['30s', 30_000],
  ['1m30s', 90_000],
  ['Sun, 01 Mar 2026 12:01:30 GMT', 90_000],
  ['Sunday, 01-Mar-26 12:01:30 GMT', 90_000],
  ['2026-03-01T12:01:30Z', 90_000],
  ['2026-03-01T11:00:00Z', 0],
  ['tomorrow', undefined],
  ['March', undefined],
  ['Never reset until 2027', undefined],
  ['Unlimited for account 7', undefined],
  ['9'.repeat(400), expect.any(Number)],
])('the reset %j is in %j milliseconds', (text, ms) => expect(parseReset(text, NOW)).toEqual(ms));

test('no text of more than 64 characters is a date', () => {
  expect(parseDate(`Sun, 01 Mar 2026 12:01:30 GMT${' '.repeat(40)}`)).toBeUndefined();
});

const head = (status: number, headers: Record<string, string>) => {
  const request = { method: 'GET', url: new URL('https://api.example') };
  return { request, status, serverMs: NOW, header: (name: string) => headers[name] };
};

test('`Retry-After` is in seconds or a date, and `Retry-After-Ms` is more precise', () => {
  expect(readRetryAfter(head(503, { 'retry-after': 'Sun, 01 Mar 2026 12:00:05 GMT' }))).toBe(5000);
  expect(readRetryAfter(head(429, { 'retry-after': '2.0' }))).toBe(2000);
  expect(readRetryAfter(head(429, { 'retry-after': '1', 'retry-after-ms': '120' }))).toBe(120);
  expect(readRetryAfter(head(429, { 'retry-after': '5, 7' }))).toBe(7000);
  expect(readRetryAfter(head(429, { 'retry-after': '5s, 7s' }))).toBe(7000);
  const dates = 'Sun, 01 Mar 2026 12:00:09 GMT, Sun, 01 Mar 2026 12:00:05 GMT';
  expect(readRetryAfter(head(429, { 'retry-after': dates }))).toBe(9000);
  expect(readRetryAfter(head(429, { 'retry-after': 'Sun, 01 Mar 2026 11:59:55 GMT' }))).toBeUndefined();
});

test('only a status that means overload or a limit makes calls wait', () => {
  expect(readStatus(head(429, {}))).toEqual({ isRejected: true, retryAfterMs: undefined });
  expect(readStatus(head(503, {}))).toEqual({ isRejected: false, retryAfterMs: undefined });
  expect(readStatus(head(503, { 'retry-after': '1' }))).toEqual({ isRejected: true, retryAfterMs: 1000 });
  expect(readStatus(head(301, { 'retry-after': '1' }))).toEqual({ isRejected: false, retryAfterMs: undefined });
});

test('seconds are rounded up', () => expect(parseSeconds('0.0001')).toBe(1));

test('the estimate of a clock approaches the time of a server that is 90 seconds ahead, and never exceeds it', () => {
  const clock = new RemoteClock();
  const ahead = 90_000;
  // Responses take 20 to 70 ms, and `Date` lacks the fraction of the second.
  const arrivals = Array.from({ length: 16 }, (_, index) => NOW + index * 313);
  const errors = arrivals.map((arrivedMs, index) => {
    const sentMs = arrivedMs + ahead - 20 - (index % 6) * 10;
    return arrivedMs + ahead - clock.timeOf(new Date(sentMs - (sentMs % 1000)).toUTCString(), arrivedMs);
  });
  expect(Math.min(...errors)).toBeGreaterThanOrEqual(0);
  expect(errors.at(-1)).toBeLessThan(150);
});

test('a wrong `Date` has no effect as soon as another one disagrees, and without one this clock counts', () => {
  const clock = new RemoteClock();
  expect(clock.timeOf(undefined, NOW)).toBe(NOW);
  clock.timeOf('Fri, 01 Jan 2100 00:00:00 GMT', NOW);
  clock.timeOf(new Date(NOW + 1000).toUTCString(), NOW + 1000);
  expect(clock.timeOf(undefined, NOW)).toBe(NOW);
});

test('after this clock has been set, earlier responses do not count', () => {
  const clock = new RemoteClock();
  const timeAt = (ms: number, aheadMs: number) =>
    clock.timeOf(new Date(NOW + ms).toUTCString(), NOW + ms + aheadMs, ms);
  for (let second = 0; second < 16; second++) timeAt(second * 1000, 3_600_000);
  expect(timeAt(16_000, 0)).toBe(NOW + 16_000);
  expect(timeAt(17_000, -3_600_000)).toBe(NOW + 17_000);
});
