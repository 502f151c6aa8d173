import type { RecordedResponse } from './recorded-response';

const DOCUMENTATION = 'https://docs.discord.com/developers/topics/rate-limits';
const MESSAGES = 'https://discord.com/api/v10/channels/41771983423143937/messages';

/** Responses of the Discord API. */
export const DISCORD: readonly RecordedResponse[] = [
  {
    title: 'a bucket of 50,000 calls',
    source: 'https://github.com/discord/discord-api-docs/issues/5646 (2022-11-16), not rejected',
    isReal: true,
    method: 'POST',
    url: MESSAGES,
    status: 200,
    headers: {
      'x-ratelimit-bucket': 'd1240eeffb4c549bd62b579ece0ffd01',
      'x-ratelimit-limit': '50000',
      'x-ratelimit-remaining': '48773',
      'x-ratelimit-reset': '1668720787.644',
      'x-ratelimit-reset-after': '102737.719',
    },
    report: {
      quotas: [
        {
          unit: 'requests',
          name: 'd1240eeffb4c549bd62b579ece0ffd01:channels/41771983423143937',
          limit: 50_000,
          remaining: 48_773,
          resetMs: 102_737_719,
          kind: 'window',
        },
      ],
    },
  },
  {
    title: 'a rejection of a route without a major resource',
    source: 'https://github.com/project-blurple/Canvas-Web/pull/505 (2026-05-05)',
    isReal: true,
    url: 'https://discord.com/api/v10/users/@me/guilds/412754940885467146/member',
    status: 429,
    headers: {
      'x-ratelimit-bucket': 'b353d78ff3f98f77197d13d44ed4c164',
      'x-ratelimit-limit': '1',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1778016457.012',
      'x-ratelimit-reset-after': '0.234',
    },
    report: {
      quotas: [
        {
          unit: 'requests',
          name: 'b353d78ff3f98f77197d13d44ed4c164:',
          limit: 1,
          remaining: 0,
          resetMs: 234,
          kind: 'window',
        },
      ],
      isRejected: true,
      retryAfterMs: 234,
      scope: 'route',
    },
  },
  {
    title: 'a resource that others have used up',
    source: `${DOCUMENTATION}, example of a resource rate limit`,
    method: 'POST',
    url: MESSAGES,
    status: 429,
    headers: {
      'Retry-After': '1337',
      'X-RateLimit-Limit': '10',
      'X-RateLimit-Remaining': '9',
      'X-RateLimit-Reset': '1470173023.123',
      'X-RateLimit-Reset-After': '64.57',
      'X-RateLimit-Bucket': 'abcd1234',
      'X-RateLimit-Scope': 'shared',
    },
    report: {
      quotas: [
        {
          unit: 'requests',
          name: 'abcd1234:channels/41771983423143937',
          limit: 10,
          remaining: 9,
          resetMs: 64_570,
          kind: 'window',
        },
      ],
      isRejected: true,
      retryAfterMs: 1_337_000,
      scope: 'route',
    },
  },
  {
    title: 'the global limit',
    source: `${DOCUMENTATION}, example of a global rate limit`,
    url: MESSAGES,
    status: 429,
    headers: { 'Retry-After': '65', 'X-RateLimit-Global': 'true', 'X-RateLimit-Scope': 'global' },
    report: { quotas: undefined, isRejected: true, retryAfterMs: 65_000, scope: 'bucket' },
  },
  {
    title: 'an address that Cloudflare has closed, without any header',
    source: 'https://github.com/discord/discord-api-docs/issues/5810 (2023-01-03)',
    isReal: true,
    method: 'POST',
    url: 'https://discord.com/api/v10/webhooks/223704706495545344/token',
    status: 429,
    headers: {},
    report: { quotas: undefined, isRejected: true, retryAfterMs: undefined, scope: 'bucket' },
  },
];
