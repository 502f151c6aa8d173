import type { Dialect, ResponseHead } from './dialect.js';
import { readRetryAfter } from './retry-after.js';
import { readQuota } from './x-rate-limit.js';

/** GitHub asks for a minute at least if a secondary limit rejects without `Retry-After`. */
const SECONDARY_WAIT_MS = 60_000;

const SECONDARY = /secondary rate limit|abuse detection/i;

/** The resources whose paths are known. All other paths use `core`, or the one that a response names. */
const RESOURCES: readonly (readonly [RegExp, string])[] = [
  [/^\/(?:api\/)?graphql$/, 'graphql'],
  [/^\/(?:api\/v3\/)?search\/code\b/, 'code_search'],
  [/^\/(?:api\/v3\/)?search\//, 'search'],
];

/**
 * Reads the limits of the GitHub API. Each resource, such as `core`, `search` and `graphql`, has a primary one. The secondary ones
 * apply to all resources. Calls of GraphQL cost points. If yours cost more than one, return them from `cost` as `requests`.
 *
 * @see https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 */
export function github(): Dialect {
  return {
    name: 'github',
    units: ['requests'],
    routeOf: ({ url }) => RESOURCES.find(([path]) => path.test(url.pathname))?.[1] ?? 'core',
    // Only the message distinguishes a secondary limit without `Retry-After` from a missing permission.
    readsBody: (response) =>
      response.status === 403 && !isExhausted(response) && readRetryAfter(response) === undefined,
    read(response) {
      const quota = readQuota(response, 'x-ratelimit');
      const quotas = quota && [{ ...quota, name: response.header('x-ratelimit-resource') }];
      if (response.status !== 403 && response.status !== 429) return quotas && { quotas };
      const retryAfterMs = readRetryAfter(response);
      if (isExhausted(response)) {
        return { quotas, isRejected: true, retryAfterMs: retryAfterMs ?? quota?.resetMs, scope: 'route' };
      }
      const isSecondary = response.status === 429 || retryAfterMs !== undefined || SECONDARY.test(messageOf(response));
      if (!isSecondary) return quotas && { quotas, isRejected: false };
      return { quotas, isRejected: true, retryAfterMs: retryAfterMs ?? SECONDARY_WAIT_MS, scope: 'bucket' };
    },
  };
}

function isExhausted(response: ResponseHead): boolean {
  return response.header('x-ratelimit-remaining') === '0';
}

function messageOf({ body }: ResponseHead): string {
  const { message } = (body ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : '';
}
