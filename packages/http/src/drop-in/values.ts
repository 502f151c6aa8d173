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
