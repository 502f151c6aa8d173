import { parseUnits } from '../headers/numbers.js';
import type { Dialect, QuotaReport, ResponseHead, ResponseReport } from './dialect.js';
import { readRetryAfter } from './retry-after.js';

/** The bucket of the REST API empties within this time, in all plans. */
const REST_REFILL_MS = 20_000;

interface Cost {
  readonly requestedQueryCost?: unknown;
  readonly actualQueryCost?: unknown;
  readonly throttleStatus?: {
    readonly maximumAvailable?: unknown;
    readonly currentlyAvailable?: unknown;
    readonly restoreRate?: unknown;
  } | null;
}

/**
 * Reads the limits of Shopify's Admin API. The body of a GraphQL response reports `points`, and the headers of the REST API
 * report `requests`. Both refill continuously. GraphQL rejects with the status 200. Return the requested cost of a query from `cost` as `points`.
 *
 * @see https://shopify.dev/docs/api/usage/limits
 */
export function shopify(): Dialect {
  return {
    name: 'shopify',
    units: ['points', 'requests'],
    routeOf: ({ url }) => (isGraphql(url) ? 'graphql' : 'rest'),
    readsBody: ({ request }) => isGraphql(request.url),
    read: (response) => (isGraphql(response.request.url) ? readGraphql(response) : readRest(response)),
  };
}

const isGraphql = (url: URL): boolean => url.pathname.endsWith('/graphql.json');

function readGraphql({ body }: ResponseHead): ResponseReport | undefined {
  const { errors, extensions } = (body ?? {}) as { errors?: unknown; extensions?: { cost?: Cost | null } | null };
  const cost = extensions?.cost ?? undefined;
  const quota = toQuota(cost);
  const isRejected = Array.isArray(errors) && errors.some(isThrottled);
  if (quota === undefined && !isRejected) return undefined;
  const actual = toNumber(cost?.actualQueryCost);
  return {
    quotas: quota && [quota],
    // The status may reject it nevertheless.
    isRejected: isRejected || undefined,
    retryAfterMs: isRejected ? toWait(cost, quota) : undefined,
    cost: actual === undefined ? undefined : { points: Math.ceil(actual) },
  };
}

function toQuota(cost: Cost | undefined): QuotaReport | undefined {
  const limit = toNumber(cost?.throttleStatus?.maximumAvailable);
  const remaining = toNumber(cost?.throttleStatus?.currentlyAvailable);
  const perSecond = toNumber(cost?.throttleStatus?.restoreRate);
  if (limit === undefined || remaining === undefined || !perSecond) return undefined;
  const resetMs = Math.ceil((Math.max(0, limit - remaining) / perSecond) * 1000);
  return { unit: 'points', limit: Math.floor(limit), remaining: Math.floor(remaining), resetMs, kind: 'refill' };
}

/** Returns the time until as many points are available as the query needs. */
function toWait(cost: Cost | undefined, quota: QuotaReport | undefined): number | undefined {
  const requested = toNumber(cost?.requestedQueryCost);
  const perSecond = toNumber(cost?.throttleStatus?.restoreRate);
  if (quota === undefined || requested === undefined || !perSecond) return undefined;
  return Math.ceil((Math.max(0, requested - quota.remaining) / perSecond) * 1000);
}

function isThrottled(error: unknown): boolean {
  const { message, extensions } = (error ?? {}) as { message?: unknown; extensions?: { code?: unknown } | null };
  return extensions?.code === 'THROTTLED' || message === 'Throttled';
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

function readRest(response: ResponseHead): ResponseReport | undefined {
  const [used, limit] = (response.header('x-shopify-shop-api-call-limit') ?? '').split('/').map(parseUnits);
  const hasQuota = used !== undefined && limit !== undefined && limit > 0;
  const remaining = hasQuota ? Math.max(0, limit - used) : 0;
  const resetMs = hasQuota ? Math.ceil(((limit - remaining) / limit) * REST_REFILL_MS) : 0;
  const quotas = hasQuota ? [{ unit: 'requests', limit, remaining, resetMs, kind: 'refill' as const }] : undefined;
  if (response.status !== 429) return quotas && { quotas };
  return { quotas, isRejected: true, retryAfterMs: readRetryAfter(response) };
}
