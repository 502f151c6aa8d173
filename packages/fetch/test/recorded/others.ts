import type { RecordedResponse } from './recorded-response';

const STRIPE_DOCUMENTATION = 'https://docs.stripe.com/rate-limits, as text';

/** Responses of the Stripe API. Its documentation lists the headers, and shows no whole response. */
export const STRIPE: readonly RecordedResponse[] = [
  {
    title: 'a rejection by the global limit',
    source: STRIPE_DOCUMENTATION,
    method: 'POST',
    url: 'https://api.stripe.com/v1/customers',
    status: 429,
    headers: { 'Stripe-Rate-Limited-Reason': 'global-rate' },
    report: { isRejected: true, retryAfterMs: undefined, scope: 'bucket', mayRetry: true },
  },
  {
    title: 'a rejection by the limit of an endpoint',
    source: STRIPE_DOCUMENTATION,
    url: 'https://api.stripe.com/v1/payment_intents/pi_3MtwBwLkdIwHu7ix28a3tqPa',
    status: 429,
    headers: { 'Stripe-Rate-Limited-Reason': 'endpoint-rate' },
    report: { isRejected: true, retryAfterMs: undefined, scope: 'route', mayRetry: true },
  },
  {
    title: 'an object that another request has locked',
    source: STRIPE_DOCUMENTATION,
    method: 'POST',
    url: 'https://api.stripe.com/v1/payment_intents/pi_3MtwBwLkdIwHu7ix28a3tqPa',
    status: 429,
    headers: {},
    body: { error: { code: 'lock_timeout', type: 'invalid_request_error' } },
    report: { isRejected: true, retryAfterMs: undefined, scope: 'call', mayRetry: true },
  },
];

/** Responses of the Slack API. */
export const SLACK: readonly RecordedResponse[] = [
  {
    title: 'a rejection',
    source:
      'https://docs.slack.dev/apis/web-api/rate-limits, quoted by https://github.com/slackapi/java-slack-sdk/issues/64',
    method: 'POST',
    url: 'https://slack.com/api/chat.postMessage',
    status: 429,
    headers: { 'Retry-After': '30' },
    body: { ok: false, error: 'ratelimited' },
    report: { isRejected: true, retryAfterMs: 30_000, scope: 'route' },
  },
];

/** The headers `X-RateLimit-*` in their known forms. */
export const X_RATE_LIMIT: readonly RecordedResponse[] = [
  {
    title: 'a window of 15 minutes and one of a day, in pairs',
    source: 'https://developers.strava.com/docs/rate-limits, as text',
    url: 'https://www.strava.com/api/v3/athlete',
    status: 200,
    headers: { 'X-RateLimit-Limit': '600,30000', 'X-RateLimit-Usage': '314,27536' },
    report: {
      quotas: [
        { unit: 'requests', name: '1', limit: 600, remaining: 286, resetMs: 60_000, kind: 'rolling' },
        { unit: 'requests', name: '2', limit: 30_000, remaining: 2464, resetMs: 60_000, kind: 'rolling' },
      ],
    },
  },
  {
    title: 'a window of a second and one of a month, in lists',
    source: 'https://api-dashboard.search.brave.com/documentation/guides/rate-limiting, as text',
    url: 'https://api.search.brave.com/res/v1/web/search',
    status: 200,
    headers: { 'X-RateLimit-Limit': '1, 15000', 'X-RateLimit-Remaining': '1, 0', 'X-RateLimit-Reset': '1, 1419704' },
    report: {
      quotas: [
        { unit: 'requests', name: '1', limit: 1, remaining: 1, resetMs: 1000, kind: 'window' },
        { unit: 'requests', name: '2', limit: 15_000, remaining: 0, resetMs: 1_419_704_000, kind: 'window' },
      ],
    },
  },
  {
    title: 'the headers of two limiters, joined, of which one reports what is used',
    source: 'made up',
    url: 'https://api.example/v1',
    status: 200,
    headers: { 'X-RateLimit-Limit': '10, 20', 'X-RateLimit-Used': '3, x', 'X-RateLimit-Remaining': '7, 15' },
    report: {
      quotas: [
        { unit: 'requests', name: '1', limit: 10, remaining: 7, resetMs: 60_000, kind: 'rolling' },
        { unit: 'requests', name: '2', limit: 20, remaining: 15, resetMs: 60_000, kind: 'rolling' },
      ],
    },
  },
  {
    title: 'what is used of a limit',
    source: 'made up',
    url: 'https://api.example/v1',
    status: 200,
    headers: { 'X-RateLimit-Limit': '100', 'X-RateLimit-Used': '60', 'X-RateLimit-Reset': '30' },
    report: { quotas: [{ unit: 'requests', limit: 100, remaining: 40, resetMs: 30_000, kind: 'window' }] },
  },
  {
    title: 'the headers of Uphold',
    source: 'https://docs.uphold.com, as text',
    url: 'https://api.uphold.com/v0/me',
    status: 200,
    headers: { 'Rate-Limit-Total': '300', 'Rate-Limit-Remaining': '299', 'Rate-Limit-Reset': '42' },
    report: { quotas: [{ unit: 'requests', limit: 300, remaining: 299, resetMs: 42_000, kind: 'window' }] },
  },
  {
    title: 'a reset in seconds from now beside one since the epoch',
    source: 'https://docs.discord.com/developers/topics/rate-limits, as text',
    url: 'https://api.example/v1',
    status: 200,
    headers: {
      'X-RateLimit-Limit': '5',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '1470173023.123',
      'X-RateLimit-Reset-After': '64.57',
    },
    report: { quotas: [{ unit: 'requests', limit: 5, remaining: 0, resetMs: 64_570, kind: 'window' }] },
  },
  {
    title: 'seconds until the reset, without a limit, from Reddit',
    source: 'https://github.com/reddit-archive/reddit/issues/1458 (2015-11-06)',
    isReal: true,
    url: 'https://api.reddit.com/r/all/new?limit=1',
    status: 200,
    headers: {
      date: 'Fri, 06 Nov 2015 23:31:39 GMT',
      'x-ratelimit-remaining': '298',
      'x-ratelimit-reset': '502',
      'x-ratelimit-used': '2',
    },
    report: { quotas: [{ unit: 'requests', limit: undefined, remaining: 298, resetMs: 502_000, kind: 'rolling' }] },
  },
  {
    title: 'a window in the limit and no reset, from Docker Hub',
    source: 'https://github.com/docker/getting-started/issues/101 (2020-11-20)',
    isReal: true,
    method: 'HEAD',
    url: 'https://registry-1.docker.io/v2/ratelimitpreview/test/manifests/latest',
    status: 200,
    headers: {
      Date: 'Fri, 20 Nov 2020 09:34:31 GMT',
      'RateLimit-Limit': '100;w=21600',
      'RateLimit-Remaining': '0;w=21600',
    },
    report: { quotas: [{ unit: 'requests', limit: 100, remaining: 0, resetMs: 21_600_000, kind: 'window' }] },
  },
  {
    title: 'a time in seconds, from GitLab',
    source:
      'https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits, table of headers. `Date` follows from its `Retry-After`',
    url: 'https://gitlab.example.com/api/v4/projects',
    status: 429,
    headers: {
      Date: 'Tue, 05 Jan 2021 10:59:30 GMT',
      'RateLimit-Limit': '60',
      'RateLimit-Remaining': '0',
      'RateLimit-Reset': '1609844400',
      'RateLimit-ResetTime': 'Tue, 05 Jan 2021 11:00:00 GMT',
    },
    report: { quotas: [{ unit: 'requests', limit: 60, remaining: 0, resetMs: 30_000, kind: 'window' }] },
  },
];

const DRAFT = 'draft-ietf-httpapi-ratelimit-headers';

/** The headers of the drafts. No server of which we know publishes its responses with them. */
export const DRAFT_HEADERS: readonly RecordedResponse[] = [
  {
    title: 'decimals, which are no integers',
    source: 'https://www.rfc-editor.org/rfc/rfc9651#section-3.3.2, as text',
    url: 'https://api.example/v1',
    status: 200,
    headers: { RateLimit: '"v1.0";r=5.0;t=7, "b";r=4;t=7.0' },
    report: {
      quotas: [{ unit: 'requests', name: undefined, limit: undefined, remaining: 4, resetMs: 60_000, kind: 'rolling' }],
    },
  },
  {
    title: 'one policy',
    source: `${DRAFT}, repository of the working group, with \`q\` and quotes as in the drafts since 8`,
    url: 'https://api.example/',
    status: 200,
    headers: { 'RateLimit-Policy': '"default";q=100;w=10', RateLimit: '"default";r=50;t=5' },
    report: {
      quotas: [{ unit: 'requests', name: undefined, limit: 100, remaining: 50, resetMs: 5000, kind: 'rolling' }],
    },
  },
  {
    title: 'several policies, with the parameters of an example of the draft',
    source: `${DRAFT}, repository of the working group, section on the partition key`,
    url: 'https://api.example/',
    status: 200,
    headers: {
      'RateLimit-Policy': 'permin;l=50;w=60, perhr;l=1000;w=3600, perday;l=5000;w=86400',
      RateLimit: 'permin;r=20;w=23, perhr;r=399;w=2402',
    },
    report: {
      quotas: [
        { unit: 'requests', name: 'permin', limit: undefined, remaining: 20, resetMs: 23_000, kind: 'rolling' },
        { unit: 'requests', name: 'perhr', limit: undefined, remaining: 399, resetMs: 2_402_000, kind: 'rolling' },
      ],
    },
  },
  {
    title: 'the parameters of draft 12',
    source: `${DRAFT}, as Rollgate sends the editor's copy of 2026-04-20`,
    url: 'https://api.example/',
    status: 429,
    headers: { 'RateLimit-Policy': '"burst";q=10;w=1', RateLimit: '"burst";a=0;w=1;c=1' },
    report: {
      quotas: [{ unit: 'requests', name: undefined, limit: 10, remaining: 0, resetMs: 1000, kind: 'rolling' }],
    },
  },
  {
    title: 'the dictionary of draft 7',
    source: `${DRAFT}-07, as described`,
    url: 'https://api.example/',
    status: 200,
    headers: { RateLimit: 'limit=100, remaining=50, reset=5', 'RateLimit-Policy': '100;w=10' },
    report: { quotas: [{ unit: 'requests', limit: 100, remaining: 50, resetMs: 5000, kind: 'rolling' }] },
  },
  {
    title: 'a list where the draft means a parameter',
    source: `${DRAFT}, repository of the working group, example of a redirection`,
    url: 'https://api.example/',
    status: 301,
    headers: { RateLimit: 'problemPolicy;r=0, t=10' },
    report: undefined,
  },
];

/** Responses of the Gemini API. */
export const GOOGLE: readonly RecordedResponse[] = [
  {
    title: 'a rejection with RetryInfo',
    source: 'https://ai.google.dev/gemini-api/docs/troubleshooting, as text',
    method: 'POST',
    url: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent',
    status: 429,
    headers: {},
    body: {
      error: {
        code: 429,
        status: 'RESOURCE_EXHAUSTED',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.QuotaFailure' },
          { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.074824224s' },
        ],
      },
    },
    report: { isRejected: true, retryAfterMs: 34_075 },
  },
  {
    title: 'a rejection of the compatible API, in an array',
    source: 'https://ai.google.dev/gemini-api/docs/openai, as text',
    method: 'POST',
    url: 'https://generativelanguage.googleapis.com/v1beta/openai/chat/completions',
    status: 429,
    headers: {},
    body: [{ error: { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }] } }],
    report: { isRejected: true, retryAfterMs: 7000 },
  },
  {
    title: 'a rejection without details',
    source: 'https://ai.google.dev/gemini-api/docs/troubleshooting, as text',
    method: 'POST',
    url: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-pro:generateContent',
    status: 429,
    headers: { 'Retry-After': '3' },
    body: { error: null },
    report: { isRejected: true, retryAfterMs: 3000 },
  },
];
