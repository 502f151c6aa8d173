import { parseGoDuration, parseUnits } from '../headers/numbers.js';
import type { Dialect, QuotaReport, ResponseHead } from './dialect.js';
import { readRetryAfter } from './retry-after.js';

const UNITS = ['requests', 'tokens'];

/**
 * Reads the limits of the OpenAI API, and of APIs that use its headers: `requests` and `tokens`, which refill continuously.
 * Azure reports the same with other resets, and -1 for what it does not know. Return an estimate of the tokens from `cost`.
 *
 * @see https://platform.openai.com/docs/guides/rate-limits
 */
export function openai(): Dialect {
  return {
    name: 'openai',
    units: UNITS,
    readsBody: ({ status }) => status === 429,
    read(response) {
      const quotas = UNITS.flatMap((unit) => readUnit(response, unit) ?? []);
      if (quotas.length === 0 && response.status !== 429) return undefined;
      if (response.status !== 429) return { quotas };
      if (isUnpaid(response)) return { quotas, isRejected: false };
      const mayRetry = response.header('x-should-retry') !== 'false';
      return { quotas, isRejected: true, retryAfterMs: readRetryAfter(response), mayRetry };
    },
  };
}

/** Whether the account has no credit left, which no wait changes. */
function isUnpaid({ body }: ResponseHead): boolean {
  return (body as { error?: { code?: unknown } | null } | null | undefined)?.error?.code === 'insufficient_quota';
}

function readUnit(response: ResponseHead, unit: string): QuotaReport | undefined {
  const limit = parseUnits(response.header(`x-ratelimit-limit-${unit}`));
  const remaining = parseUnits(response.header(`x-ratelimit-remaining-${unit}`));
  const resetMs = parseGoDuration(response.header(`x-ratelimit-reset-${unit}`));
  if (limit === undefined || remaining === undefined || resetMs === undefined) return undefined;
  return { unit, limit, remaining, resetMs, kind: 'refill' };
}
