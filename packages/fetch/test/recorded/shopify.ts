import type { RecordedResponse } from './recorded-response';

const GRAPHQL = 'https://example.myshopify.com/admin/api/2023-10/graphql.json';

/** Responses of Shopify's Admin API. */
export const SHOPIFY: readonly RecordedResponse[] = [
  {
    title: 'an allowed query that cost less than requested',
    source: 'https://github.com/Shopify/shopify-api-js/issues/602',
    isReal: true,
    method: 'POST',
    url: GRAPHQL,
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: {
      data: { customers: { nodes: [] } },
      extensions: {
        cost: {
          requestedQueryCost: 12,
          actualQueryCost: 3,
          throttleStatus: { maximumAvailable: 1000, currentlyAvailable: 985, restoreRate: 50 },
        },
      },
    },
    report: {
      quotas: [{ unit: 'points', limit: 1000, remaining: 985, resetMs: 300, kind: 'refill' }],
      cost: { points: 3 },
    },
  },
  {
    title: 'a rejected query, with a code',
    source: 'https://gist.github.com/lacom/56e3834834e250270062583f425274b9 (2023-10-27)',
    isReal: true,
    method: 'POST',
    url: GRAPHQL,
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: {
      errors: [
        {
          message: 'Throttled',
          extensions: { code: 'THROTTLED', documentation: 'https://shopify.dev/api/usage/rate-limits' },
        },
      ],
      extensions: {
        cost: {
          requestedQueryCost: 70,
          actualQueryCost: null,
          throttleStatus: { maximumAvailable: 1000, currentlyAvailable: 66, restoreRate: 50 },
        },
      },
    },
    report: {
      quotas: [{ unit: 'points', limit: 1000, remaining: 66, resetMs: 18_680, kind: 'refill' }],
      isRejected: true,
      retryAfterMs: 80,
    },
  },
  {
    title: 'a rejected query, with a message only',
    source: 'https://community.shopify.com/t/graphql-admin-api-example-throttled-requests-response/8456',
    isReal: true,
    method: 'POST',
    url: GRAPHQL,
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: {
      errors: [{ message: 'Throttled' }],
      extensions: {
        cost: {
          requestedQueryCost: 202,
          actualQueryCost: null,
          throttleStatus: { maximumAvailable: 1000.0, currentlyAvailable: 118, restoreRate: 50.0 },
        },
      },
    },
    report: {
      quotas: [{ unit: 'points', limit: 1000, remaining: 118, resetMs: 17_640, kind: 'refill' }],
      isRejected: true,
      retryAfterMs: 1680,
    },
  },
  {
    title: 'a query that costs more than any bucket holds',
    source: 'https://gist.github.com/lacom/56e3834834e250270062583f425274b9 (comment)',
    isReal: true,
    method: 'POST',
    url: GRAPHQL,
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: {
      errors: [
        {
          message: 'Query cost is 1002, which exceeds the single query max cost limit (1000).',
          extensions: { code: 'MAX_COST_EXCEEDED', cost: 1002, maxCost: 1000 },
        },
      ],
    },
    report: undefined,
  },
  {
    title: 'a call of the REST API',
    source: 'https://gist.github.com/shopifypartners/053adab11b03cedfb9d6fe9939401242',
    isReal: true,
    url: 'https://example.myshopify.com/admin/api/2023-10/orders.json',
    status: 200,
    headers: { 'X-Shopify-Shop-Api-Call-Limit': '1/40' },
    report: { quotas: [{ unit: 'requests', limit: 40, remaining: 39, resetMs: 500, kind: 'refill' }] },
  },
  {
    title: 'a rejection by the status, with a cost',
    source: 'https://shopify.dev/docs/api/usage/response-codes, as text',
    method: 'POST',
    url: GRAPHQL,
    status: 429,
    headers: { 'Retry-After': '2.0' },
    body: {
      extensions: { cost: { throttleStatus: { maximumAvailable: 1000, currentlyAvailable: 500, restoreRate: 50 } } },
    },
    report: {
      quotas: [{ unit: 'points', limit: 1000, remaining: 500, resetMs: 10_000, kind: 'refill' }],
    },
  },
];
