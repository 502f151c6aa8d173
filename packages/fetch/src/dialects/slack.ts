import type { Dialect } from './dialect.js';
import { readRetryAfter } from './retry-after.js';

/**
 * Reads the limits of the Slack API. Each method has its own, and only a rejection reports anything: the wait. Add your own
 * limits, such as one message per second and channel.
 *
 * @see https://docs.slack.dev/apis/web-api/rate-limits
 */
export function slack(): Dialect {
  return {
    name: 'slack',
    units: [],
    routeOf: ({ url }) => url.pathname,
    read: (response) =>
      response.status === 429
        ? { isRejected: true, retryAfterMs: readRetryAfter(response), scope: 'route' }
        : undefined,
  };
}
