/** Which headers describe the decision. */
export const HEADERS = ['x-ratelimit', 'draft-11', 'all', 'none'] as const;
/** A value of the option `headers`. */
export type Headers = (typeof HEADERS)[number];

/** What `X-RateLimit-Reset` counts: the seconds since 1970 at the reset, or the seconds left until it. */
export type ResetUnit = 'epoch' | 'delta';
