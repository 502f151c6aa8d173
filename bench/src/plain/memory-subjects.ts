/** What checks keys in memory: three algorithms of Rollgate, and two counters of fixed windows. */
export const SUBJECTS = [
  'rolling window',
  'fixed window',
  'token bucket',
  'express-rate-limit',
  'rate-limiter-flexible',
] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/** Makes the checks of one round with a new store. The worker returns the seconds that they took. */
export interface PlainMemoryTask {
  readonly subject: SubjectName;
}
