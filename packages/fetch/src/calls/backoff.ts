/** The wait after the first rejection that reports none. It doubles with each attempt of a call. */
const FIRST_MS = 1000;
const MOST_MS = 60_000;

/**
 * Returns for how long calls stop after a rejection. If the server reports no wait, they back off. They also do so if it demands
 * none and rejects the next attempt again.
 */
export function waitAfter(reportedMs: number | undefined, attempt: number, maxBlockMs: number): number {
  if (reportedMs !== undefined && (reportedMs > 0 || attempt === 1)) return reportedMs;
  return Math.min(maxBlockMs, MOST_MS, FIRST_MS * 2 ** (attempt - 1));
}
