import { setTimeout as delay } from 'node:timers/promises';

const TIMEOUT_MS = 100_000;

/**
 * Polls every 20 milliseconds until `isTrue` returns true.
 *
 * @throws Error after 100 seconds, with `what` was expected.
 */
export async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`Expected within ${TIMEOUT_MS / 1000} s: ${what}`);
    await delay(20);
  }
}
