import { rollingWindow } from '@rollgate/core';
import { MS, type NaiveDecision, type NaiveLimit } from './naive-log.js';

/** The same limits as a limiter takes them. */
export function toLimits(naive: Record<string, NaiveLimit>) {
  return Object.fromEntries(
    Object.entries(naive).map(([name, { limit, window, minDifference, countRejected }]) => [
      name,
      rollingWindow({
        limit,
        window: window / MS,
        countRejected,
        minDifference: minDifference === 0 ? undefined : minDifference / MS,
      }),
    ]),
  );
}

/** A key for each limit there is. */
export function keysFor(naive: Record<string, NaiveLimit>, [one, two, three]: readonly [string, string, string]) {
  const all: Record<string, string> = { one, two, three };
  return Object.fromEntries(Object.keys(naive).map((name) => [name, all[name]!]));
}

/** The whole decision that follows from what the naive log says of each limit. */
export function expected({ allowed, violated, limits }: NaiveDecision) {
  const byName = Object.fromEntries(
    Object.entries(limits).map(([name, said]) => [
      name,
      {
        allowed: said.allowed,
        limit: said.limit,
        remaining: said.remaining,
        retryAfterMs: said.retryAfter / MS,
        resetMs: said.reset / MS,
        delayMs: 0,
      },
    ]),
  );
  const candidates = Object.values(byName).filter((said) => allowed || !said.allowed);
  const [speaking] = candidates.toSorted((a, b) =>
    allowed
      ? a.remaining - b.remaining || b.resetMs - a.resetMs
      : (a.retryAfterMs === b.retryAfterMs ? 0 : b.retryAfterMs - a.retryAfterMs) || b.resetMs - a.resetMs,
  );
  return {
    allowed,
    limit: speaking!.limit,
    remaining: speaking!.remaining,
    retryAfterMs: Math.max(...Object.values(byName).map((said) => said.retryAfterMs)),
    resetMs: speaking!.resetMs,
    delayMs: 0,
    violated,
    limits: byName,
    degraded: false,
  };
}
