import type { QuotaStatus } from './api-quotas.js';

/** How an API responds to a call. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** How an API reports its limits, as its documentation describes it. */
export interface LimitedApi {
  readonly path: string;
  respond(status: QuotaStatus): ApiResponse;
}

type Headers = Readonly<Record<string, string>>;

const wholeSeconds = (ms: number) => String(Math.ceil(ms / 1000));
const exactSeconds = (ms: number) => (ms / 1000).toFixed(3);
const wholeMs = (ms: number) => `${Math.ceil(ms)}ms`;

/** An API with the headers of all responses, and more of them if it rejects a call. */
function api(
  path: string,
  headers: (quota: QuotaStatus) => Headers,
  rejection: (quota: QuotaStatus) => Headers = () => ({}),
): LimitedApi {
  const respond = (quota: QuotaStatus): ApiResponse => ({
    status: quota.isAllowed ? 200 : 429,
    headers: quota.isAllowed ? headers(quota) : { ...headers(quota), ...rejection(quota) },
    body: {},
  });
  return { path, respond };
}

const xRateLimit = ({ limit, remaining }: QuotaStatus): Headers => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(Math.floor(remaining)),
});

const silent = () => ({});

/** The bucket of points is in the body, and a rejection has the status 200. */
const shopify: LimitedApi = {
  path: '/admin/api/2026-07/graphql.json',
  respond: ({ isAllowed, limit, remaining, resetMs, retryMs }) => {
    const restoreRate = resetMs === 0 ? limit : ((limit - remaining) / resetMs) * 1000;
    const requestedQueryCost = isAllowed ? 1 : remaining + (retryMs * restoreRate) / 1000;
    const throttleStatus = { maximumAvailable: limit, currentlyAvailable: Math.floor(remaining), restoreRate };
    const errors = isAllowed ? undefined : [{ message: 'Throttled', extensions: { code: 'THROTTLED' } }];
    return { status: 200, headers: {}, body: { errors, extensions: { cost: { requestedQueryCost, throttleStatus } } } };
  },
};

/** By the names of the dialects that read them. */
export const LIMITED_APIS = {
  draftHeaders: api('/', ({ limit, remaining, resetMs }) => ({
    'ratelimit-policy': `"default";q=${limit}`,
    ratelimit: `"default";r=${remaining};t=${wholeSeconds(resetMs)}`,
  })),
  xRateLimit: api('/', (quota) => ({ ...xRateLimit(quota), 'x-ratelimit-reset': wholeSeconds(quota.resetMs) })),
  github: api('/repos/octocat/hello', (quota) => ({
    ...xRateLimit(quota),
    'x-ratelimit-reset': wholeSeconds(quota.nowMs + quota.resetMs),
    'x-ratelimit-resource': 'core',
  })),
  openai: api(
    '/v1/models',
    ({ limit, remaining, resetMs }) => ({
      'x-ratelimit-limit-tokens': String(limit),
      'x-ratelimit-remaining-tokens': String(Math.floor(remaining)),
      'x-ratelimit-reset-tokens': wholeMs(resetMs),
    }),
    ({ retryMs }) => ({ 'retry-after-ms': String(Math.ceil(retryMs)), 'retry-after': wholeSeconds(retryMs) }),
  ),
  anthropic: api(
    '/v1/messages',
    ({ limit, remaining, resetMs, nowMs }) => ({
      'anthropic-ratelimit-tokens-limit': String(limit),
      'anthropic-ratelimit-tokens-remaining': String(Math.floor(remaining)),
      'anthropic-ratelimit-tokens-reset': new Date(Math.ceil((nowMs + resetMs) / 1000) * 1000).toISOString(),
    }),
    ({ retryMs }) => ({ 'retry-after': wholeSeconds(retryMs) }),
  ),
  discord: api(
    '/api/v10/channels/123456789012345678/messages',
    (quota) => ({
      ...xRateLimit(quota),
      'x-ratelimit-reset': exactSeconds(quota.nowMs + quota.resetMs),
      'x-ratelimit-reset-after': exactSeconds(quota.resetMs),
      'x-ratelimit-bucket': 'abcd1234',
    }),
    ({ retryMs }) => ({ 'retry-after': wholeSeconds(retryMs), 'x-ratelimit-scope': 'user' }),
  ),
  shopify,
  stripe: api('/v1/charges', silent, () => ({ 'stripe-rate-limited-reason': 'global-rate' })),
  slack: api('/api/chat.postMessage', silent, ({ retryMs }) => ({ 'retry-after': wholeSeconds(retryMs) })),
  retryAfter: api('/', silent, ({ retryMs }) => ({ 'retry-after': wholeSeconds(retryMs) })),
} satisfies Record<string, LimitedApi>;
