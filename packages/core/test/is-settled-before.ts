import { setTimeout as delay } from 'node:timers/promises';

/** How many timers of so many milliseconds a call may be settled after its deadline. */
const SLACK = { timers: 5, ms: 50 };

/**
 * Whether the call is settled at its deadline. It is compared with other timers of this process: a busy machine delays both
 * alike, so the order in which they end depends on the call alone.
 */
export async function isSettledBefore(deadlineMs: number, call: Promise<unknown>): Promise<boolean> {
  const settled = call.then(
    () => true,
    () => true,
  );
  const control = async () => {
    await delay(deadlineMs);
    for (let timer = 0; timer < SLACK.timers; timer++) await delay(SLACK.ms);
    return false;
  };
  return Promise.race([settled, control()]);
}
