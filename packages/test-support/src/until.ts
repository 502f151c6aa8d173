import { setTimeout as delay } from 'node:timers/promises';

const PATIENCE_MS = 100_000;

/**
 * Asks again and again until the answer is yes.
 *
 * @throws Error that names what did not come true.
 */
export async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`Waited in vain until ${what}`);
    await delay(20);
  }
}
