import type { RateLimiterOptions } from '@rollgate/core';
import { getOrCache } from '@rollgate/core/store';
import { hideStore, toError } from '../errors/errors.js';

/** The options of each storage for another rate limiter: those of a `RateLimiter`, without its limits. */
export type StorageOptions = Pick<RateLimiterOptions, 'store' | 'prefix' | 'timeout' | 'onStoreError'>;

// Other rate limiters pass on what their options contain, without a check. What works there works with these storages, too.

/** Returns the limit as a number. It may be text, for example from the environment. Units are whole, so a fraction allows none. */
export function toLimit(limit: unknown): number {
  const number = typeof limit === 'string' ? Number(limit) : limit;
  return typeof number === 'number' && !Number.isNaN(number) ? Math.max(0, Math.floor(number)) : (limit as number);
}

/** Returns the key as text, because an app's function may return `undefined`, a number or an empty text. Each is one client. */
export function toKey(key: unknown): string {
  return key === '' ? '""' : String(key);
}

/** Returns a wait in whole seconds, at most `mostMs`: a limit of 0 has no end. */
export function toSeconds(waitMs: number, mostMs: number): number {
  return Math.ceil(Math.min(waitMs, mostMs) / 1000);
}

/** The requests in the window, as other rate limiters count them: each compares this number with its limit. */
export function countHits(allowed: boolean, { limit, remaining }: { limit: number; remaining: number }): number {
  if (!allowed) return limit + 1;
  // Without a store, a policy may allow a request that nothing has counted. Rate limiters expect at least one.
  return limit === Infinity ? 1 : Math.max(1, limit - remaining);
}

/**
 * Returns a function that creates limits once for the same arguments. Some rate limiters pass the numbers of a limit with
 * each call, and a limiter keeps a plan for each limit that it gets.
 */
export function cacheLimits<const Args extends readonly unknown[], Created>(
  create: (...args: Args) => Created,
): (...args: Args) => Created {
  const created = new Map<string, Created>();
  return (...args) => getOrCache(created, args.join(' '), () => create(...args));
}

/** Throws on what a limiter threw, without what clients must not see of a store. Other rate limiters pass on any error. */
export function throwHidden(thrown: unknown): never {
  throw hideStore(toError(thrown));
}
