import { parseGoDuration } from '../headers/numbers.js';
import type { Dialect, ResponseHead } from './dialect.js';
import { readRetryAfter } from './retry-after.js';

/**
 * Reads the limits of Google's APIs, such as Gemini. Only a rejection reports anything: the wait, as `RetryInfo` in its body. Add your
 * own limits of requests per minute and day.
 *
 * @see https://ai.google.dev/gemini-api/docs/rate-limits
 */
export function google(): Dialect {
  return {
    name: 'google',
    units: [],
    readsBody: ({ status }) => status === 429,
    read: (response) =>
      response.status === 429
        ? { isRejected: true, retryAfterMs: readRetryInfo(response) ?? readRetryAfter(response) }
        : undefined,
  };
}

/** Some of the APIs put the error into an array. */
function readRetryInfo({ body }: ResponseHead): number | undefined {
  const { error } = ((Array.isArray(body) ? body[0] : body) ?? {}) as { error?: { details?: unknown } | null };
  const details = Array.isArray(error?.details) ? error.details : [];
  const info = details.find((detail) => String(detail?.['@type']).endsWith('google.rpc.RetryInfo'));
  return typeof info?.retryDelay === 'string' ? parseGoDuration(info.retryDelay) : undefined;
}
