import type { Decision } from '@rollgate/core';
import { hasQuota, type ParsedLimits } from '@rollgate/core/store';
import { limitsByName } from '../limits/limits-by-name.js';

/** Rounds up, so that a client that waits this long is not rejected again. */
function ceilSeconds(ms: number): number {
  return Math.ceil(ms / 1000);
}

/** The largest integer of a structured field (RFC 9651, section 3.3.1). */
const MAX_INTEGER = 999_999_999_999_999;

const clampInteger = (value: number): number => Math.min(value, MAX_INTEGER);

const policyValues = new WeakMap<object, string>();

/**
 * Returns the value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11, section 3): each limit's name, its
 * quota, and its window in seconds. A limit on work in flight has the unit of its quota instead of a window. A limit's name
 * contains no character that a structured field would have to escape. A limit without a quota, or with `enforce: false`, has no policy.
 */
function toPolicies(limits: ParsedLimits): string {
  let value = policyValues.get(limits);
  if (value === undefined) {
    value = Object.entries(limitsByName(limits))
      .filter(([, limit]) => hasQuota(limit) && limit.enforced !== false)
      .map(([name, limit]) => {
        const period = limit.holdsSlots ? 'qu="concurrent-requests"' : `w=${ceilSeconds(limit.windowMicros / 1000)}`;
        return `"${name}";q=${clampInteger(limit.limit)};${period}`;
      })
      .join(', ');
    policyValues.set(limits, value);
  }
  return value;
}

/** Returns the value of `RateLimit-Policy` for this decision. A block that rejects is a quota of 0. */
export function toPolicyValue(limits: ParsedLimits, { violated, limits: results }: Decision): string {
  let value = toPolicies(limits);
  for (const name of violated) if (!hasQuota(results[name]!)) value += `${value && ', '}"${name}";q=0`;
  return value;
}

/**
 * Returns the value of `RateLimit` (section 4): each limit's remaining units, and the seconds until a unit more is free. There
 * are none if the full quota is free, or if the time is unknown. A rejection has only the violated limits, and no time beyond
 * `Retry-After` (section 6), which a `minDifference` makes shorter.
 */
export function toRateLimitValue(decision: Decision): string {
  const { allowed, limits, violated } = decision;
  let value = '';
  for (const name of allowed ? Object.keys(limits) : violated) {
    const { remaining, nextUnitMs = 0, retryAfterMs, enforced } = limits[name]!;
    if (remaining === Infinity || enforced === false) continue; // It has no quota, or rejects nobody.
    value += `${value === '' ? '' : ', '}"${name}";r=${clampInteger(remaining)}`;
    if (nextUnitMs > 0 && nextUnitMs !== Infinity)
      value += `;t=${ceilSeconds(allowed ? nextUnitMs : Math.min(nextUnitMs, retryAfterMs))}`;
  }
  return value;
}
