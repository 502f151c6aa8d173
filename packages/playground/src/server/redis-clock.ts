import { type Clock, monotonicClock } from '@rollgate/core';
import type { Redis } from 'ioredis';

/** The time between two measurements. */
const MEASURE_INTERVAL_MS = 10_000;
const SAMPLES = 5;

/** The time of Redis, exact to half a round trip, so that several processes share one clock. */
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

  /** @throws Error if Redis does not return its time. */
  async start(): Promise<void> {
    await this.#measure();
    // While Redis is unavailable, the last measurement remains.
    this.#timer = setInterval(() => void this.#measure().catch(() => {}), MEASURE_INTERVAL_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Uses the fastest of several responses. */
  async #measure(): Promise<void> {
    let best = { tookMs: Infinity, aheadMs: 0 };
    for (let sample = 0; sample < SAMPLES; sample++) {
      const sentMs = monotonicClock.now();
      const [seconds, micros] = await this.#redis.time();
      const tookMs = monotonicClock.now() - sentMs;
      const aheadMs = Number(seconds) * 1000 + Number(micros) / 1000 - (sentMs + tookMs / 2);
      if (tookMs < best.tookMs) best = { tookMs, aheadMs };
    }
    this.#aheadMs = best.aheadMs;
  }
}
