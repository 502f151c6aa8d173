import { type Clock, monotonicClock } from '@rollgate/core';
import type { Redis } from 'ioredis';

/** How often Redis is asked for the time. */
const EVERY_MS = 10_000;
const SAMPLES = 5;

/** Redis's time, known to half the way there and back: what happens in several processes is told by one clock. */
export class RedisClock implements Clock {
  readonly #redis: Redis;
  #aheadMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  now(): number {
    return monotonicClock.now() + this.#aheadMs;
  }

  /** @throws Error when Redis does not tell the time. */
  async start(): Promise<void> {
    await this.#measure();
    // While Redis is away, what was known last has to do.
    this.#timer = setInterval(() => void this.#measure().catch(() => {}), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Believes the quickest answer of a few. */
  async #measure(): Promise<void> {
    let best = { tookMs: Infinity, aheadMs: 0 };
    for (let sample = 0; sample < SAMPLES; sample++) {
      const askedMs = monotonicClock.now();
      const [seconds, micros] = await this.#redis.time();
      const tookMs = monotonicClock.now() - askedMs;
      const aheadMs = Number(seconds) * 1000 + Number(micros) / 1000 - (askedMs + tookMs / 2);
      if (tookMs < best.tookMs) best = { tookMs, aheadMs };
    }
    this.#aheadMs = best.aheadMs;
  }
}
