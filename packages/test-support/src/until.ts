import { setTimeout as delay } from 'node:timers/promises';

const TIMEOUT_MS = 100_000;
/** How long to wait between two polls at least and at most, and as a part of the time so far. */
const [LEAST_MS, MOST_MS, PART] = [20, 100, 0.05];

/**
 * Polls until `isTrue` returns true: every 20 milliseconds at first, and less often the longer it takes, because polling costs
 * the servers time.
 *
 * @throws Error after 100 seconds, with `what` was expected.
 */
export async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const startMs = performance.now();
  while (!(await isTrue())) {
    const tookMs = performance.now() - startMs;
    if (tookMs > TIMEOUT_MS) throw new Error(`Expected within ${TIMEOUT_MS / 1000} s: ${what}`);
    await delay(Math.min(MOST_MS, Math.max(LEAST_MS, PART * tookMs)));
  }
}
