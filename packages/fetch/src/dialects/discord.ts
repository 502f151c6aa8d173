import { hashKey } from '@rollgate/core/store';
import { parseSeconds, parseUnits } from '../headers/numbers.js';
import type { CallRequest, Dialect, ResponseHead, ResponseReport } from './dialect.js';
import { readRetryAfter } from './retry-after.js';

/** The resources in the path whose ids are part of the bucket. */
const MAJOR = /^\/(?:api\/(?:v\d+\/)?)?((?:channels|guilds|webhooks)\/\d+)/;

const VERSION = /^\/api(?:\/v\d+)?/;
/** The ids of all other resources. They have 17 digits or more. */
const MINOR_ID = /(?<!^\/(?:channels|guilds|webhooks))\/\d{16,20}(?=\/|$)/g;

/** The tokens in a path are secrets. That of a webhook belongs to the quota. */
const WEBHOOK_TOKEN = /^(\/webhooks\/\d+\/)([^/]+)/;
const INTERACTION_TOKEN = /^(\/interactions\/[^/]+)\/[^/]+/;

/**
 * Reads the limits of the Discord API. Each route has a quota, and routes may share one, whose bucket the responses name. A
 * global limit closes all routes. Responses do not report how much of the global limit is left, so add your own limit of 50
 * requests per second.
 *
 * @see https://docs.discord.com/developers/topics/rate-limits
 */
export function discord(): Dialect {
  return {
    name: 'discord',
    units: ['requests'],
    routeOf: ({ method, url }) => `${method} ${toRoute(url)}`,
    read(response) {
      const quotas = readQuotas(response);
      if (response.status === 429) return readRejection(response, quotas);
      return quotas && { quotas };
    },
  };
}

function toRoute({ pathname }: URL): string {
  return pathname
    .replace(VERSION, '')
    .replace(MINOR_ID, '/:id')
    .replace(INTERACTION_TOKEN, '$1/:token')
    .replace(WEBHOOK_TOKEN, (_, webhook: string, token: string) => webhook + hashKey(token));
}

function readQuotas(response: ResponseHead): ResponseReport['quotas'] {
  const limit = parseUnits(response.header('x-ratelimit-limit'));
  const remaining = parseUnits(response.header('x-ratelimit-remaining'));
  const resetMs = parseSeconds(response.header('x-ratelimit-reset-after'));
  if (limit === undefined || remaining === undefined || resetMs === undefined) return undefined;
  const bucket = response.header('x-ratelimit-bucket');
  const name = bucket && `${bucket}:${majorOf(response.request)}`;
  return [{ unit: 'requests', name, limit, remaining, resetMs, kind: 'window' }];
}

/** A bucket counts for each channel, guild or webhook on its own. */
function majorOf({ url }: CallRequest): string {
  return MAJOR.exec(url.pathname)?.[1] ?? '';
}

function readRejection(response: ResponseHead, quotas: ResponseReport['quotas']): ResponseReport {
  const isGlobal =
    response.header('x-ratelimit-global') === 'true' || response.header('x-ratelimit-scope') === 'global';
  // Without a scope and a bucket, Cloudflare has rejected the address of this machine.
  const isBanned = quotas === undefined && response.header('x-ratelimit-scope') === undefined;
  // `Retry-After` may be longer than the reset of the bucket, if others have used up a shared resource.
  const retryAfterMs = readRetryAfter(response) ?? (quotas?.[0]?.resetMs || undefined);
  return { quotas, isRejected: true, retryAfterMs, scope: isGlobal || isBanned ? 'bucket' : 'route' };
}
