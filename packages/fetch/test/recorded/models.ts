import type { RecordedResponse } from './recorded-response';

const COMPLETIONS = 'https://api.openai.com/v1/chat/completions';

/** Responses of the OpenAI API, and of servers with its headers. */
export const OPENAI: readonly RecordedResponse[] = [
  {
    title: 'resets below a second',
    source: 'https://github.com/open-webui/open-webui/issues/3743 (2024-07-09)',
    isReal: true,
    url: COMPLETIONS,
    status: 200,
    headers: {
      'x-ratelimit-limit-requests': '500',
      'x-ratelimit-limit-tokens': '30000',
      'x-ratelimit-remaining-requests': '499',
      'x-ratelimit-remaining-tokens': '29996',
      'x-ratelimit-reset-requests': '120ms',
      'x-ratelimit-reset-tokens': '8ms',
    },
    report: {
      quotas: [
        { unit: 'requests', limit: 500, remaining: 499, resetMs: 120, kind: 'refill' },
        { unit: 'tokens', limit: 30_000, remaining: 29_996, resetMs: 8, kind: 'refill' },
      ],
    },
  },
  {
    title: 'the table of the documentation',
    source: 'https://platform.openai.com/docs/guides/rate-limits, as of 2024-01-15',
    url: COMPLETIONS,
    status: 200,
    headers: {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-limit-tokens': '150000',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-reset-tokens': '6m0s',
    },
    report: {
      quotas: [
        { unit: 'requests', limit: 60, remaining: 59, resetMs: 1000, kind: 'refill' },
        { unit: 'tokens', limit: 150_000, remaining: 149_984, resetMs: 360_000, kind: 'refill' },
      ],
    },
  },
  {
    title: 'unknown numbers, from Azure',
    source: 'https://github.com/openai/openai-dotnet/issues/838 (2025-11-17)',
    isReal: true,
    url: 'https://example.openai.azure.com/openai/responses',
    status: 429,
    headers: {
      'x-ratelimit-limit-tokens': '-1',
      'x-ratelimit-remaining-tokens': '-1',
      'x-ratelimit-reset-tokens': '0',
    },
    report: { quotas: [], isRejected: true, retryAfterMs: undefined, mayRetry: true },
  },
  {
    title: 'an account without credit, which no wait changes',
    source: 'https://platform.openai.com/docs/guides/error-codes/api-errors, as text',
    url: 'https://api.openai.com/v1/responses',
    status: 429,
    headers: {},
    body: {
      error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'You exceeded your current quota.' },
    },
    report: { quotas: [], isRejected: false },
  },
];

const MESSAGES = 'https://api.anthropic.com/v1/messages';

/** Responses of the Anthropic API. */
export const ANTHROPIC: readonly RecordedResponse[] = [
  {
    title: 'no requests left, without `Retry-After`',
    source: 'https://github.com/anthropics/anthropic-sdk-typescript/issues/357 (2024-03-26)',
    isReal: true,
    url: MESSAGES,
    status: 429,
    headers: {
      date: 'Tue, 26 Mar 2024 19:59:59 GMT',
      'anthropic-ratelimit-requests-limit': '5',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2024-03-26T20:00:00Z',
      'anthropic-ratelimit-tokens-limit': '25000',
      'anthropic-ratelimit-tokens-remaining': '16000',
      'anthropic-ratelimit-tokens-reset': '2024-03-26T20:00:00Z',
      'x-should-retry': 'true',
    },
    report: {
      quotas: [
        { unit: 'requests', limit: 5, remaining: 0, resetMs: 1000, kind: 'refill' },
        { unit: 'tokens', limit: 25_000, remaining: 16_000, resetMs: 1000, kind: 'refill' },
      ],
      isRejected: true,
      mayRetry: true,
    },
  },
  {
    title: 'no input tokens left, with `Retry-After` and without `Date`',
    source: 'https://github.com/whoz-oss/coday/issues/110 (2025-06-03)',
    isReal: true,
    url: MESSAGES,
    status: 429,
    headers: {
      // The published headers lack `Date`. The other limits are full, so their resets show the time.
      date: 'Mon, 02 Jun 2025 15:14:45 GMT',
      'x-should-retry': 'true',
      'anthropic-ratelimit-input-tokens-limit': '200000',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2025-06-02T15:15:48Z',
      'anthropic-ratelimit-output-tokens-limit': '80000',
      'anthropic-ratelimit-output-tokens-remaining': '80000',
      'anthropic-ratelimit-output-tokens-reset': '2025-06-02T15:14:45Z',
      'anthropic-ratelimit-requests-limit': '4000',
      'anthropic-ratelimit-requests-remaining': '4000',
      'anthropic-ratelimit-requests-reset': '2025-06-02T15:14:45Z',
      'retry-after': '16',
      'anthropic-ratelimit-tokens-limit': '280000',
      'anthropic-ratelimit-tokens-remaining': '80000',
      'anthropic-ratelimit-tokens-reset': '2025-06-02T15:14:45Z',
    },
    report: {
      quotas: [
        { unit: 'requests', limit: 4000, remaining: 4000, resetMs: 0, kind: 'refill' },
        { unit: 'tokens', limit: 280_000, remaining: 80_000, resetMs: 0, kind: 'refill' },
        { unit: 'inputTokens', limit: 200_000, remaining: 0, resetMs: 63_000, kind: 'refill' },
        { unit: 'outputTokens', limit: 80_000, remaining: 80_000, resetMs: 0, kind: 'refill' },
      ],
      isRejected: true,
      retryAfterMs: 16_000,
      mayRetry: true,
    },
  },
];
