// The counterpart of `header-names.ts` for the Fetch standard, whose objects find each name equally fast.

/** The names as they are sent. */
const HEADER_NAMES = {
  limit: 'X-RateLimit-Limit',
  remaining: 'X-RateLimit-Remaining',
  reset: 'X-RateLimit-Reset',
  policy: 'RateLimit-Policy',
  rateLimit: 'RateLimit',
  partition: 'RateLimit-Partition',
  retryAfter: 'Retry-After',
  cacheControl: 'Cache-Control',
  expose: 'Access-Control-Expose-Headers',
} as const;

/** The names of the headers that a limiter writes. */
export type HeaderNames = Readonly<Record<keyof typeof HEADER_NAMES, string>>;

/** Returns the names in the form that a host needs. */
export function selectNames(isLowercase: boolean): HeaderNames {
  if (!isLowercase) return HEADER_NAMES;
  const names = Object.entries(HEADER_NAMES).map(([header, name]) => [header, name.toLowerCase()]);
  return Object.fromEntries(names);
}
