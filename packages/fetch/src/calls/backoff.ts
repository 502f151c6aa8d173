import type { Report } from '../reports/read-report.js';

/** The wait after the first rejection that reports none. It doubles with each attempt of a call. */
const FIRST_MS = 1000;
const MOST_MS = 60_000;

/** Returns for how long calls stop after a rejection that does not report it. */
export function backoffMs(attempt: number): number {
  return Math.min(MOST_MS, FIRST_MS * 2 ** (attempt - 1));
}

/** Returns for how many milliseconds a reported quota has no unit left. */
export function exhaustedMs({ quotas }: Report): number {
  const waits = quotas.filter(({ remaining }) => remaining === 0);
  return Math.max(
    0,
    ...waits.map(({ kind, limit = 1, resetMs }) => (kind === 'refill' ? Math.ceil(resetMs / limit) : resetMs)),
  );
}
