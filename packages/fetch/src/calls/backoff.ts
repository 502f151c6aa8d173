/** The wait after the first rejection that reports none. It doubles with each attempt of a call. */
const FIRST_MS = 1000;
const MOST_MS = 60_000;

/** Returns for how long calls stop after a rejection that does not report it. */
export function backoffMs(attempt: number): number {
  return Math.min(MOST_MS, FIRST_MS * 2 ** (attempt - 1));
}
