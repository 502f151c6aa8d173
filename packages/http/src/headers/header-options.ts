/** Which headers describe the decision. */
export const HEADERS = ['x-ratelimit', 'draft-11', 'draft-12', 'all', 'none'] as const;
/** A value of the option `headers`. */
export type Headers = (typeof HEADERS)[number];
