import assert from 'node:assert/strict';
import { anyCharacter } from '@rollgate/test-support/any-character';
import { randomRuns } from '@rollgate/test-support/effort';
import fc from 'fast-check';
import type { Dialect, ResponseHead } from '../src/dialects/dialect';
import { readReport } from '../src/reports/read-report';
import { ALL_DIALECTS } from './all-dialects';

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
