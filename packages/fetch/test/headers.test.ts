import assert from 'node:assert/strict';
import { anyCharacter } from '@rollgate/test-support/any-character';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import { anthropic } from '../src/dialects/anthropic.js';
import type { Dialect, ResponseHead } from '../src/dialects/dialect.js';
import { discord } from '../src/dialects/discord.js';
import { draftHeaders } from '../src/dialects/draft-headers.js';
import { github } from '../src/dialects/github.js';
import { google } from '../src/dialects/google.js';
import { openai } from '../src/dialects/openai.js';
import { readRetryAfter, readStatus } from '../src/dialects/retry-after.js';
import { shopify } from '../src/dialects/shopify.js';
import { slack } from '../src/dialects/slack.js';
import { stripe } from '../src/dialects/stripe.js';
import { xRateLimit } from '../src/dialects/x-rate-limit.js';
import { parseGoDuration, parseNumber, parseSeconds } from '../src/headers/numbers.js';
import { RemoteClock } from '../src/headers/remote-clock.js';
import { parseDate, parseReset } from '../src/headers/times.js';
import { readReport } from '../src/reports/read-report.js';
import { createResponseHead } from '../src/reports/response-head.js';
import { ALL_DIALECTS } from './all-dialects.js';
import { DISCORD } from './recorded/discord.js';
import { GITHUB } from './recorded/github.js';
import { ANTHROPIC, OPENAI } from './recorded/models.js';
import { DRAFT_HEADERS, GOOGLE, SLACK, STRIPE, X_RATE_LIMIT } from './recorded/others.js';
import type { RecordedResponse } from './recorded/recorded-response.js';
import { SHOPIFY } from './recorded/shopify.js';

describe('parsers', () => {
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
});

describe('recorded responses', () => {
  const CASES: readonly (readonly [Dialect, readonly RecordedResponse[]])[] = [
    [draftHeaders(), DRAFT_HEADERS],
    [xRateLimit(), X_RATE_LIMIT],
    [github(), GITHUB],
    [openai(), OPENAI],
    [anthropic(), ANTHROPIC],
    [discord(), DISCORD],
    [shopify(), SHOPIFY],
    [stripe(), STRIPE],
    [slack(), SLACK],
    [google(), GOOGLE],
  ];

  /** What the dialect gets of the response, in the second of its `Date`. */
  function headOf({ method = 'GET', url, status, headers, body }: RecordedResponse, dialect: Dialect): ResponseHead {
    const fields = new Headers(headers);
    const head = createResponseHead(
      { method, url: new URL(url) },
      status,
      fields,
      parseDate(fields.get('date') ?? undefined) ?? 0,
    );
    return dialect.readsBody?.(head) ? { ...head, body } : head;
  }

  const named = CASES.flatMap(([dialect, responses]) =>
    responses.map((response) => [dialect.name, response.title, dialect, response] as const),
  );

  test.each(named)('%s reads %s', (_name, _title, dialect, response) => {
    expect(dialect.read(headOf(response, dialect))).toEqual(response.report);
  });

  test('every dialect that real servers speak has a response of one', () => {
    const without = CASES.filter(([, responses]) => !responses.some(({ isReal }) => isReal)).map(([{ name }]) => name);
    // These publish examples only, or no whole response.
    expect(without).toEqual(['draft-headers', 'stripe', 'slack', 'google']);
  });

  const route = (dialect: Dialect, method: string, url: string) => dialect.routeOf!({ method, url: new URL(url) });

  test('routes are the quotas that requests use', () => {
    const api = 'https://api.github.com';
    expect(route(github(), 'GET', `${api}/search/code?q=a`)).toBe('code_search');
    expect(route(github(), 'GET', `${api}/search/issues`)).toBe('search');
    expect(route(github(), 'POST', `${api}/graphql`)).toBe('graphql');
    expect(route(github(), 'GET', 'https://github.example/api/v3/search/users')).toBe('search');
    expect(route(github(), 'GET', `${api}/repos/a/b`)).toBe('core');

    const channel = 'https://discord.com/api/v10/channels/41771983423143937';
    expect(route(discord(), 'PATCH', `${channel}/messages/334385199974967042`)).toBe(
      'PATCH /channels/41771983423143937/messages/:id',
    );
    expect(route(discord(), 'GET', 'https://discord.com/api/v10/users/80351110224678912')).toBe('GET /users/:id');

    // Tokens are secrets, so they are not in the names of routes. Webhooks with different tokens have different quotas.
    const [hook, other] = ['s3cret', 'other'].map((token) =>
      route(discord(), 'POST', `https://discord.com/api/v10/webhooks/155101607195836416/${token}`),
    );
    expect(hook).toMatch(/^POST \/webhooks\/155101607195836416\/%#[\w-]{43}$/);
    expect(other).not.toBe(hook);
    expect(
      route(discord(), 'POST', 'https://discord.com/api/v10/interactions/155101607195836416/s3cret/callback'),
    ).toBe('POST /interactions/:id/:token/callback');

    expect(route(stripe(), 'GET', 'https://api.stripe.com/v1/customers/cus_NffrFeUfNV2Hib')).toBe(
      'GET /v1/customers/:id',
    );
    const names = [
      'payment_intents',
      'setup_intents',
      'tax_rates',
      'billing_portal/sessions',
      'test_helpers/test_clocks',
    ];
    for (const name of names)
      expect(route(stripe(), 'GET', `https://api.stripe.com/v1/${name}`)).toBe(`GET /v1/${name}`);
    expect(route(stripe(), 'POST', 'https://api.stripe.com/v1/checkout/sessions/cs_test_a11YYufWQ/expire')).toBe(
      'POST /v1/checkout/sessions/:id/expire',
    );
    expect(route(slack(), 'POST', 'https://slack.com/api/chat.postMessage')).toBe('/api/chat.postMessage');
  });
});

describe('malformed headers', () => {
  const MAX_BLOCK_MS = 3_600_000;

  /** Numbers at the edges of what the parsers accept, in the texts that surround them. */
  const number = fc.oneof(
    fc.integer({ min: -2, max: 1_000 }),
    fc.double({ noNaN: false }),
    fc.constantFrom(1e9, 1e12, 1e15, 1e16, 2 ** 53, -0, 1e300),
  );
  const value = fc.oneof(
    number.map(String),
    fc.tuple(number, number).map(([one, other]) => `${one};w=${other}`),
    fc.tuple(number, number).map(([one, other]) => `"default";r=${one};t=${other}`),
    fc.tuple(number, number).map(([one, other]) => `limit=${one}, remaining=${one}, reset=${other}`),
    fc.tuple(number, fc.constantFrom('ms', 's', 'm', 'h', 'd', '')).map(([count, unit]) => `${count}${unit}`),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.constantFrom(
      '',
      ' ',
      'true',
      'false',
      'unlimited',
      'Infinity',
      'NaN',
      '0x10',
      '1e400',
      '٣',
      '1,000',
      '"',
      '\\"',
      ';;',
      '/',
    ),
    fc.string({ maxLength: 60, unit: anyCharacter }),
  );
  const NAMES = [
    ...['retry-after', 'retry-after-ms', 'ratelimit', 'ratelimit-policy', 'ratelimit-limit', 'ratelimit-remaining'],
    ...['ratelimit-reset', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-ratelimit-resource'],
    ...['x-ratelimit-reset-after', 'x-ratelimit-bucket', 'x-ratelimit-scope', 'x-ratelimit-global'],
    ...['requests', 'tokens'].flatMap((unit) =>
      ['limit', 'remaining', 'reset'].map((part) => `x-ratelimit-${part}-${unit}`),
    ),
    ...['requests', 'tokens', 'input-tokens', 'output-tokens'].flatMap((unit) =>
      ['limit', 'remaining', 'reset'].map((part) => `anthropic-ratelimit-${unit}-${part}`),
    ),
    ...['x-shopify-shop-api-call-limit', 'stripe-rate-limited-reason', 'stripe-should-retry', 'x-should-retry'],
  ];
  const headers = fc.dictionary(fc.constantFrom(...NAMES), value, { maxKeys: 12 });
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({
      errors: fc.oneof(fc.jsonValue(), fc.array(fc.record({ message: fc.jsonValue(), extensions: fc.jsonValue() }))),
      extensions: fc.record({
        cost: fc.oneof(
          fc.jsonValue(),
          fc.record({
            requestedQueryCost: fc.oneof(number, fc.jsonValue()),
            actualQueryCost: fc.oneof(number, fc.jsonValue()),
            throttleStatus: fc.oneof(
              fc.jsonValue(),
              fc.record({ maximumAvailable: number, currentlyAvailable: number, restoreRate: number }),
            ),
          }),
        ),
      }),
    }),
  );
  const url = fc.constantFrom(
    'https://api.example/',
    'https://discord.com/api/v10/channels/1/messages',
    'https://shop.example/admin/api/2026-10/graphql.json',
  );
  const response = fc.record({
    url,
    status: fc.constantFrom(200, 304, 403, 429, 503, 529, 999),
    headers,
    body,
    serverMs: number,
  });

  /** A count that a limit accepts. */
  const isCount = (count: number) => Number.isSafeInteger(count) && count >= 0;
  const isWait = (ms: number) => Number.isSafeInteger(ms) && ms >= 0 && ms <= MAX_BLOCK_MS;

  test.each(ALL_DIALECTS.map((dialect) => [dialect.name, dialect] as const))(
    '%s never throws, and reports only valid numbers below the bound',
    (_, dialect) => {
      fc.assert(
        fc.property(response, ({ url: address, headers: fields, ...rest }) => {
          const request = { method: 'GET', url: new URL(address) };
          const head: ResponseHead = { ...rest, request, header: (name) => fields[name] };
          dialect.readsBody?.(head);
          const report = readReport([dialect], head, MAX_BLOCK_MS);
          for (const { limit, remaining, resetMs, kind } of report.quotas) {
            assert.ok(limit === undefined || (isCount(limit) && limit > 0));
            assert.ok(isCount(remaining) && remaining <= (limit ?? remaining));
            // The time of a refill shows its rate, and the store bounds the wait.
            assert.ok(kind === 'refill' ? isCount(resetMs) : isWait(resetMs));
          }
          assert.ok(report.retryAfterMs === undefined || isWait(report.retryAfterMs));
          for (const cost of Object.values(report.cost ?? {})) assert.ok(isCount(cost));
        }),
        randomRuns(300, 20_000),
      );
    },
  );

  test('numbers of a dialect that is not ours are checked, too', () => {
    const dialect: Dialect = {
      name: 'mine',
      units: ['requests'],
      read: () => ({
        quotas: [
          { unit: 'requests', remaining: Number.NaN, resetMs: 1, kind: 'window' },
          { unit: 'requests', remaining: 7.5, limit: 0, resetMs: Infinity, kind: 'window' },
        ],
        isRejected: true,
        retryAfterMs: -1,
      }),
    };
    const head = {
      request: { method: 'GET', url: new URL('https://api.example') },
      status: 200,
      serverMs: 0,
      header: () => undefined,
    };
    expect(readReport([dialect], head, MAX_BLOCK_MS)).toEqual({
      quotas: [{ unit: 'requests', remaining: 7, limit: undefined, resetMs: MAX_BLOCK_MS, kind: 'window' }],
      isRejected: true,
      isOverload: false,
      retryAfterMs: undefined,
      scope: 'route',
      mayRetry: true,
      cost: undefined,
    });
  });
});
