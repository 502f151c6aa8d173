import type { Decision, Limit, Limits } from '@rollgate/core';
import { wholeSeconds } from './whole-seconds.js';

/** The greatest integer of a structured field (RFC 9651, section 3.3.1). */
const GREATEST = 999_999_999_999_999;

const integer = (value: number): number => Math.min(value, GREATEST);

const texts = new WeakMap<object, string>();

/**
 * The value of `RateLimit-Policy` for these limits (draft-ietf-httpapi-ratelimit-headers-11, section 3): their names, which
 * hold nothing that a string of a structured field would have to escape, their quotas, and their windows in seconds.
 */
export function policyField(limits: Limits): string {
  let text = texts.get(limits);
  if (text === undefined) {
    text = Object.entries(byName(limits))
      .map(([name, { limit, windowMicros }]) => `"${name}";q=${integer(limit)};w=${wholeSeconds(windowMicros / 1000)}`)
      .join(', ');
    texts.set(limits, text);
  }
  return text;
}

/** One limit under the name that it goes by. */
export function byName(limits: Limits): Readonly<Record<string, Limit>> {
  return 'test' in limits && typeof limits.test === 'function' ? { default: limits as Limit } : (limits as never);
}

/** The value of `RateLimit` (the same, section 4): what is left of each, and the seconds until it is whole again. */
export function rateLimitField({ limits }: Decision): string {
  let text = '';
  for (const name of Object.keys(limits)) {
    const { remaining, resetMs } = limits[name]!;
    text += `${text === '' ? '' : ', '}"${name}";r=${integer(remaining)};t=${wholeSeconds(resetMs)}`;
  }
  return text;
}
