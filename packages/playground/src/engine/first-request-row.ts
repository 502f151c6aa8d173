import { type Decision, MemoryStore, RateLimiter } from '@rollgate/core';
import type { Attempt, Next, State } from '../shared/protocol.js';
import type { Algorithm } from '../shared/settings.js';
import { firstRequestWindow } from './first-request-window.js';

/** What the decision depends on. */
type Rules = Pick<Attempt, 'limit' | 'windowMs' | 'minDifferenceMs' | 'countedFromMs'>;

/**
 * The row of the fixed window from the first request. No store on a network has that limit, so each engine decides about
 * the attempts that it receives. All receive the same ones in the same order, and so decide alike.
 */
export class FirstRequestRow {
  #nowMs = 0;
  readonly #limiter = new RateLimiter({
    limits: null,
    store: new MemoryStore({ clock: { now: () => this.#nowMs } }),
  });
  /** The decisions of allowed attempts, for refunds. */
  readonly #decisions = new WeakMap<Attempt, Decision>();

  /** Decides about an attempt, and adds that to the decisions of the algorithms. */
  decide(attempt: Attempt<Algorithm>): Attempt {
    this.#nowMs = attempt.atMs;
    const decision = this.#limiter.decide(...toCheck(attempt)) as Decision;
    const decided = { ...attempt, delays: { ...attempt.delays, first: decision.allowed ? 0 : null } };
    this.#decisions.set(decided, decision);
    return decided;
  }

  /** Takes an attempt back, because it was aborted before its start. */
  refund(attempt: Attempt): void {
    const decision = this.#decisions.get(attempt);
    if (decision !== undefined) void this.#limiter.refund(decision);
  }

  /** Returns when the next request would be allowed. */
  async next({ settings, countedFromMs }: State, nowMs: number): Promise<Next> {
    this.#nowMs = nowMs;
    const { retryAfterMs } = await this.#limiter.peek(...toCheck({ ...settings, countedFromMs }));
    return { allowedAtMs: nowMs + retryAfterMs, startsAtMs: nowMs + retryAfterMs };
  }
}

/** All clients share one window. It starts over with the other limits. */
function toCheck({ limit, windowMs, minDifferenceMs, countedFromMs }: Rules) {
  const minDifference = minDifferenceMs === 0 ? undefined : minDifferenceMs;
  return [String(countedFromMs), { limits: firstRequestWindow({ limit, window: windowMs, minDifference }) }] as const;
}
