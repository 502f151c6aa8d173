import type { Decision } from '@rollgate/core';
import type { ResetUnit } from './options.js';

/** Sets one header field of a framework's response. */
export type SetField<Response> = (response: Response, name: string, value: string) => void;

const FIELDS = {
  limit: 'X-RateLimit-Limit',
  remaining: 'X-RateLimit-Remaining',
  reset: 'X-RateLimit-Reset',
  retryAfter: 'Retry-After',
  cacheControl: 'Cache-Control',
};

/** The names of the fields as a framework writes them. */
export type FieldNames = Readonly<typeof FIELDS>;

/** In lower case for a framework that would put them so itself, once for each field of each answer. */
export function fieldNames(inLowerCase: boolean): FieldNames {
  if (!inLowerCase) return FIELDS;
  return Object.fromEntries(Object.entries(FIELDS).map(([field, name]) => [field, name.toLowerCase()])) as FieldNames;
}

/** Tells a decision, of the limit that speaks for the whole, in the fields that most clients know. */
export function writeRateLimitFields<Response>(
  response: Response,
  setField: SetField<Response>,
  names: FieldNames,
  decision: Decision,
  resetUnit: ResetUnit,
): void {
  setField(response, names.limit, String(decision.limit));
  setField(response, names.remaining, String(decision.remaining));
  const sinceMs = resetUnit === 'epoch' ? Date.now() : 0;
  setField(response, names.reset, String(wholeSeconds(sinceMs + decision.resetMs)));
}

/**
 * Tells when to come again (RFC 9110, section 10.2.3), unless never, and that the answer is for this moment only.
 */
export function writeRefusalFields<Response>(
  response: Response,
  setField: SetField<Response>,
  names: FieldNames,
  { retryAfterMs }: Decision,
): void {
  const seconds = retryAfterSeconds(retryAfterMs);
  if (seconds !== undefined) setField(response, names.retryAfter, String(seconds));
  setField(response, names.cacheControl, 'no-store');
}

/** At least 1, for 0 would tell the client to come again at once; `undefined` for never. */
export function retryAfterSeconds(retryAfterMs: number): number | undefined {
  return retryAfterMs === Infinity ? undefined : Math.max(1, wholeSeconds(retryAfterMs));
}

/** Up, always: a client that waits as long as it was told must not be refused again. */
function wholeSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}
