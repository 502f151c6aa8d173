import type { ManualClock, RateLimiter } from '@rollgate/core';

const PAUSE_MS = 100;

/** How many probes a store gets in {@link countWaits}: after 0, 250, 750, 1750, 3750 and 7750 ms. */
export const PROBES = 6;

/**
 * Makes five checks in each tenth of a second, for eight seconds of the clock. Returns how many of them waited for the store, which
 * is silent when it writes. The limiter has `onStoreError: 'allow'`.
 *
 * @param untilProbed - resolves when a probe that was sent has its response.
 */
export async function countWaits(
  limiter: RateLimiter,
  clock: ManualClock,
  timeoutMs: number,
  untilProbed: () => Promise<unknown>,
): Promise<number> {
  const first = limiter.check('ann');
  clock.advance(timeoutMs);
  await first;
  let waits = 0;
  for (let passedMs = 0; passedMs < 8000; passedMs += PAUSE_MS) {
    for (let check = 0; check < 5; check++) if (limiter.decide('ann') instanceof Promise) waits += 1;
    await untilProbed();
    clock.advance(PAUSE_MS);
  }
  return waits;
}

/** Makes checks until the store decides one. Each of them may be the one that waits. */
export async function untilDecided(limiter: RateLimiter, clock: ManualClock, untilProbed: () => Promise<unknown>) {
  for (;;) {
    const decision = await limiter.check('ann');
    if (decision.degraded === false) return decision;
    await untilProbed();
    clock.advance(PAUSE_MS);
  }
}
