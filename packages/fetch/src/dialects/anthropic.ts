import { parseUnits } from '../headers/numbers.js';
import { parseReset } from '../headers/times.js';
import type { Dialect, QuotaReport, ResponseHead } from './dialect.js';
import { readRetryAfter } from './retry-after.js';

/** The units by their names in the headers. */
const UNITS: Readonly<Record<string, string>> = {
  requests: 'requests',
  tokens: 'tokens',
  'input-tokens': 'inputTokens',
  'output-tokens': 'outputTokens',
};

/**
 * Reads the limits of the Anthropic API: `requests`, `tokens`, `inputTokens` and `outputTokens`, which refill continuously.
 * Return an estimate of the tokens from `cost`.
 *
 * @see https://docs.anthropic.com/en/api/rate-limits
 */
export function anthropic(): Dialect {
  return {
    name: 'anthropic',
    units: Object.values(UNITS),
    read(response) {
      const quotas = Object.keys(UNITS).flatMap((name) => readUnit(response, name) ?? []);
      if (response.status !== 429) return quotas.length === 0 ? undefined : { quotas };
      const mayRetry = response.header('x-should-retry') !== 'false';
      return { quotas, isRejected: true, retryAfterMs: readRetryAfter(response), mayRetry };
    },
  };
}

function readUnit(response: ResponseHead, name: string): QuotaReport | undefined {
  const prefix = `anthropic-ratelimit-${name}`;
  const limit = parseUnits(response.header(`${prefix}-limit`));
  const remaining = parseUnits(response.header(`${prefix}-remaining`));
  const resetMs = parseReset(response.header(`${prefix}-reset`), response.serverMs);
  if (limit === undefined || remaining === undefined || resetMs === undefined) return undefined;
  return { unit: UNITS[name]!, limit, remaining, resetMs, kind: 'refill' };
}
