import { setTimeout as delay } from 'node:timers/promises';
import type { Decision, RateLimiter } from '@rollgate/core';
import { ProcessTime } from './process-time.js';

/** The outcome of a call. */
export interface Outcome {
  /** Excludes the time in which this process was blocked: see {@link ProcessTime}. */
  readonly tookMs: number;
  readonly decision?: Decision;
  readonly error?: unknown;
}

/** Keeps `inFlight` checks running, and records how each one settles. */
export class Load {
  readonly outcomes: Outcome[] = [];
  readonly #limiter: RateLimiter;
  readonly #callers: Promise<void>[];
  readonly #time = new ProcessTime();
  #isStopped = false;

  constructor(limiter: RateLimiter, inFlight: number, keyOf = (caller: number) => `user:${caller % 7}`) {
    this.#limiter = limiter;
    this.#callers = Array.from({ length: inFlight }, (_, caller) => this.#call(keyOf(caller)));
  }

  /** The number of actions that Redis allowed, and that the policy allowed. */
  get admitted(): { readonly byRedis: number; readonly byPolicy: number } {
    const allowed = this.outcomes.filter(({ decision }) => decision?.allowed);
    const byRedis = allowed.filter(({ decision }) => decision?.degraded === false).length;
    return { byRedis, byPolicy: allowed.length - byRedis };
  }

  /** The number of the last consecutive calls that the store decided. */
  get consecutiveServedCount(): number {
    const last = this.outcomes.findLastIndex(({ decision }) => decision?.degraded !== false);
    return this.outcomes.length - 1 - last;
  }

  /** The number of calls that the store did not decide. */
  get failedCount(): number {
    return this.outcomes.filter(({ decision }) => decision?.degraded !== false).length;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#callers);
    this.#time.stop();
  }

  async #call(key: string): Promise<void> {
    while (!this.#isStopped) {
      const startMs = this.#time.runningMs;
      const [settled] = await Promise.allSettled([this.#limiter.check(key)]);
      const tookMs = this.#time.runningMs - startMs;
      if (settled.status === 'fulfilled') this.outcomes.push({ tookMs, decision: settled.value });
      else this.outcomes.push({ tookMs, error: settled.reason });
      await delay(20); // A policy returns immediately, and would leave no time for anything else.
    }
  }
}
