import { anthropic } from '../src/dialects/anthropic';
import type { Dialect, ResponseHead } from '../src/dialects/dialect';
import { discord } from '../src/dialects/discord';
import { draftHeaders } from '../src/dialects/draft-headers';
import { github } from '../src/dialects/github';
import { google } from '../src/dialects/google';
import { openai } from '../src/dialects/openai';
import { shopify } from '../src/dialects/shopify';
import { slack } from '../src/dialects/slack';
import { stripe } from '../src/dialects/stripe';
import { xRateLimit } from '../src/dialects/x-rate-limit';
import { parseDate } from '../src/headers/times';
import { createResponseHead } from '../src/reports/response-head';
import { DISCORD } from './recorded/discord';
import { GITHUB } from './recorded/github';
import { ANTHROPIC, OPENAI } from './recorded/models';
import { DRAFT_HEADERS, GOOGLE, SLACK, STRIPE, X_RATE_LIMIT } from './recorded/others';
import type { RecordedResponse } from './recorded/recorded-response';
import { SHOPIFY } from './recorded/shopify';

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
  expect(route(discord(), 'POST', 'https://discord.com/api/v10/interactions/155101607195836416/s3cret/callback')).toBe(
    'POST /interactions/:id/:token/callback',
  );

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
  for (const name of names) expect(route(stripe(), 'GET', `https://api.stripe.com/v1/${name}`)).toBe(`GET /v1/${name}`);
  expect(route(stripe(), 'POST', 'https://api.stripe.com/v1/checkout/sessions/cs_test_a11YYufWQ/expire')).toBe(
    'POST /v1/checkout/sessions/:id/expire',
  );
  expect(route(slack(), 'POST', 'https://slack.com/api/chat.postMessage')).toBe('/api/chat.postMessage');
});
