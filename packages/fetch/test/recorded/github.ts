import type { RecordedResponse } from './recorded-response';

/** Responses of the GitHub API. */
export const GITHUB: readonly RecordedResponse[] = [
  {
    title: 'an allowed call',
    source: 'https://github.com/ryanj/gist-reveal/issues/21 (2014-11-02)',
    isReal: true,
    url: 'https://api.github.com/users/whatever',
    status: 200,
    headers: {
      Date: 'Sun, 02 Nov 2014 06:26:18 GMT',
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '58',
      'X-RateLimit-Reset': '1414913136',
    },
    report: {
      quotas: [{ unit: 'requests', limit: 60, remaining: 58, resetMs: 3_558_000, kind: 'window', name: undefined }],
    },
  },
  {
    title: 'the last call of a window',
    source: 'https://github.com/Nightfirecat/.dotfiles/issues/22 (2017-07-12)',
    isReal: true,
    url: 'https://api.github.com/rate_limit',
    status: 200,
    headers: {
      Date: 'Wed, 12 Jul 2017 15:52:11 GMT',
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '1499876315',
    },
    report: {
      quotas: [{ unit: 'requests', limit: 60, remaining: 0, resetMs: 1_584_000, kind: 'window', name: undefined }],
    },
  },
  {
    title: 'a call of the resource `search`, whose body was not published',
    source: 'https://github.com/KnpLabs/php-github-api/pull/1072 (2022-06-13)',
    isReal: true,
    url: 'https://api.github.com/search/issues',
    status: 403,
    headers: {
      Date: 'Mon, 13 Jun 2022 11:48:53 GMT',
      'X-RateLimit-Limit': '30',
      'X-RateLimit-Remaining': '14',
      'X-RateLimit-Reset': '1655120964',
      'X-RateLimit-Used': '16',
      'X-RateLimit-Resource': 'search',
    },
    report: {
      quotas: [{ unit: 'requests', limit: 30, remaining: 14, resetMs: 31_000, kind: 'window', name: 'search' }],
      isRejected: false,
    },
  },
  {
    title: 'a rejection by a secondary limit without `Retry-After`, whose message the source cuts off',
    source: 'https://github.com/inaka/erlang-github/pull/27 (2015-02-24)',
    isReal: true,
    url: 'https://api.github.com/repos/inaka/erlang-github',
    status: 403,
    headers: {
      Date: 'Tue, 24 Feb 2015 10:57:29 GMT',
      'X-RateLimit-Limit': '5000',
      'X-RateLimit-Remaining': '4928',
      'X-RateLimit-Reset': '1424776902',
    },
    body: { message: 'You have triggered an abuse detection mechanism and have been temporarily b' },
    report: {
      quotas: [{ unit: 'requests', limit: 5000, remaining: 4928, resetMs: 1_453_000, kind: 'window', name: undefined }],
      isRejected: true,
      retryAfterMs: 60_000,
      scope: 'bucket',
    },
  },
  {
    title: 'a rejection by a secondary limit with `Retry-After`',
    source: 'https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api, as text',
    isReal: false,
    url: 'https://api.github.com/repos/octocat/hello-world/issues',
    status: 403,
    headers: { 'Retry-After': '30' },
    report: { quotas: undefined, isRejected: true, retryAfterMs: 30_000, scope: 'bucket' },
  },
  {
    title: 'a rejection by the primary limit',
    source: 'https://docs.github.com/en/rest/overview/resources-in-the-rest-api, example of 2013-08-20',
    isReal: false,
    url: 'https://api.github.com/users/octocat',
    status: 403,
    headers: {
      Date: 'Tue, 20 Aug 2013 14:50:41 GMT',
      'X-RateLimit-Limit': '60',
      'X-RateLimit-Remaining': '0',
      'X-RateLimit-Reset': '1377013266',
    },
    body: { message: 'API rate limit exceeded for xxx.xxx.xxx.xxx.' },
    report: {
      quotas: [{ unit: 'requests', limit: 60, remaining: 0, resetMs: 3_025_000, kind: 'window', name: undefined }],
      isRejected: true,
      retryAfterMs: 3_025_000,
      scope: 'route',
    },
  },
];
