import { setTimeout as delay } from 'node:timers/promises';
import type { Decision, RateLimiter } from '@rollgate/core';
import { ProcessTime } from './process-time.js';

/** How a call was settled. */
export interface Outcome {
  /** Without the time in which this process was blocked: see {@link ProcessTime}. */
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
  #isOver = false;

  constructor(limiter: RateLimiter, inFlight: number, keyOf = (caller: number) => `user:${caller % 7}`) {
    this.#limiter = limiter;
    this.#callers = Array.from({ length: inFlight }, (_, caller) => this.#call(keyOf(caller)));
  }

  /** How many actions Redis allowed, and how many the policy. */
  get admitted(): { readonly byRedis: number; readonly byPolicy: number } {
    const allowed = this.outcomes.filter(({ decision }) => decision?.allowed);
    const byRedis = allowed.filter(({ decision }) => decision?.degraded === false).length;
    return { byRedis, byPolicy: allowed.length - byRedis };
  }

  /** How many of the last calls in a row came from the store. */
  get servedLately(): number {
    const last = this.outcomes.findLastIndex(({ decision }) => decision?.degraded !== false);
    return this.outcomes.length - 1 - last;
  }

  /** How many calls did not come from the store. */
  get failed(): number {
    return this.outcomes.filter(({ decision }) => decision?.degraded !== false).length;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#callers);
    this.#time.stop();
  }

  async #call(key: string): Promise<void> {
    while (!this.#isOver) {
      const startMs = this.#time.runningMs;
      const [settled] = await Promise.allSettled([this.#limiter.check(key)]);
      const tookMs = this.#time.runningMs - startMs;
      if (settled.status === 'fulfilled') this.outcomes.push({ tookMs, decision: settled.value });
      else this.outcomes.push({ tookMs, error: settled.reason });
      await delay(20); // A policy returns immediately, and would leave no time for anything else.
    }
  }
}
