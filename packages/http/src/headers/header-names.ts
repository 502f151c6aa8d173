/**
 * The names as they are sent, and in lowercase for a framework that would convert each name of each response. V8 finds a
 * property faster by a name from the source than by one that `toLowerCase` has returned.
 */
const HEADER_NAMES = {
  limit: ['X-RateLimit-Limit', 'x-ratelimit-limit'],
  remaining: ['X-RateLimit-Remaining', 'x-ratelimit-remaining'],
  reset: ['X-RateLimit-Reset', 'x-ratelimit-reset'],
  policy: ['RateLimit-Policy', 'ratelimit-policy'],
  rateLimit: ['RateLimit', 'ratelimit'],
  retryAfter: ['Retry-After', 'retry-after'],
  cacheControl: ['Cache-Control', 'cache-control'],
  expose: ['Access-Control-Expose-Headers', 'access-control-expose-headers'],
} as const;

/** The names of the headers that a limiter writes. */
export type HeaderNames = Readonly<Record<keyof typeof HEADER_NAMES, string>>;

/** Returns the names in the form that a host needs. */
export function selectNames(isLowercase: boolean): HeaderNames {
  const names = Object.entries(HEADER_NAMES).map(([header, [name, lowercase]]) => [
    header,
    isLowercase ? lowercase : name,
  ]);
  return Object.fromEntries(names);
}
