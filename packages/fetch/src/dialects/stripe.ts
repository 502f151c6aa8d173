import type { Dialect, ResponseReport } from './dialect.js';
import { readRetryAfter } from './retry-after.js';

/** The ids in a path, such as `cus_NffrFeUfNV2Hib`. The names of endpoints, such as `payment_intents`, have lower case alone. */
const ID = /\/[a-z]{2,20}_(?=[a-z_]*[A-Z0-9])\w+(?=\/|$)/g;

/** Which calls a rejection concerns, by the header `Stripe-Rate-Limited-Reason`. */
const SCOPES: Readonly<Record<string, ResponseReport['scope']>> = {
  'global-rate': 'bucket',
  'global-concurrency': 'bucket',
  'endpoint-rate': 'route',
  'endpoint-concurrency': 'route',
};

/**
 * Reads the limits of the Stripe API. Only a rejection reports anything, and it has no wait, so calls back off exponentially. Add
 * your own limits of 100 requests per second, or 25 in a sandbox.
 *
 * A rejection without a reason means that another request has locked the object, so only that call waits.
 *
 * @see https://docs.stripe.com/rate-limits
 */
export function stripe(): Dialect {
  return {
    name: 'stripe',
    units: [],
    routeOf: ({ method, url }) => `${method} ${url.pathname.replace(ID, '/:id')}`,
    read(response) {
      if (response.status !== 429) return undefined;
      const scope = SCOPES[response.header('stripe-rate-limited-reason') ?? ''] ?? 'call';
      const mayRetry = response.header('stripe-should-retry') !== 'false';
      return { isRejected: true, retryAfterMs: readRetryAfter(response), scope, mayRetry };
    },
  };
}
