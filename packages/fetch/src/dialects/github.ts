import type { Dialect, ResponseHead } from './dialect.js';
import { hasRetryAfter, readRetryAfter } from './retry-after.js';
import { readQuota } from './x-rate-limit.js';

/** GitHub asks for a minute at least if a secondary limit rejects without `Retry-After`. */
const SECONDARY_WAIT_MS = 60_000;

const SECONDARY = /secondary rate limit|abuse detection/i;

const GRAPHQL = /^\/(?:api\/)?graphql$/;

/** The resources whose paths are known. All other paths use `core`, or the one that a response names. */
const RESOURCES: readonly (readonly [RegExp, string])[] = [
  [GRAPHQL, 'graphql'],
  [/^\/(?:api\/v3\/)?search\/code\b/, 'code_search'],
  [/^\/(?:api\/v3\/)?search\//, 'search'],
];

/**
 * Reads the limits of the GitHub API. Each resource, such as `core`, `search` and `graphql`, has a primary one. The secondary ones
 * apply to all resources. GraphQL rejects with the status 200. Its calls cost points. If yours cost more than one, return them from `cost` as `requests`.
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
      isGraphql(response) || (response.status === 403 && !isExhausted(response) && !hasRetryAfter(response)),
    read(response) {
      const quota = readQuota(response, 'x-ratelimit');
      const quotas = quota && [{ ...quota, name: response.header('x-ratelimit-resource') }];
      const retryAfterMs = readRetryAfter(response);
      const isGraphqlRejection = isGraphql(response) && (hasRetryAfter(response) || hasLimitError(response));
      if (response.status !== 403 && response.status !== 429 && !isGraphqlRejection) return quotas && { quotas };
      if (isExhausted(response)) {
        return {
          quotas,
          isRejected: true,
          retryAfterMs: retryAfterMs ?? (quota?.resetMs || undefined),
          scope: 'route',
        };
      }
      const isSecondary =
        response.status !== 403 || hasRetryAfter(response) || SECONDARY.test(messageOf(response.body));
      if (!isSecondary) return quotas && { quotas, isRejected: false };
      return { quotas, isRejected: true, retryAfterMs: retryAfterMs ?? SECONDARY_WAIT_MS, scope: 'bucket' };
    },
  };
}

function isExhausted(response: ResponseHead): boolean {
  return response.header('x-ratelimit-remaining') === '0';
}

/** Whether only the errors in the body show a rejection. */
function isGraphql({ request, status }: ResponseHead): boolean {
  return status === 200 && GRAPHQL.test(request.url.pathname);
}

function hasLimitError({ body }: ResponseHead): boolean {
  const { errors } = (body ?? {}) as { errors?: unknown };
  return Array.isArray(errors) && errors.some((error) => isLimitType(error?.type) || SECONDARY.test(messageOf(error)));
}

function isLimitType(type: unknown): boolean {
  return type === 'RATE_LIMITED' || type === 'RATE_LIMIT';
}

function messageOf(body: unknown): string {
  const { message } = (body ?? {}) as { message?: unknown };
  return typeof message === 'string' ? message : '';
}
