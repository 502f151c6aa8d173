import { type Decision, type Limits, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';
import { createPeriodicLimit, type Span } from './calendar-span.js';

/** The clock of a replay, which shows the time of the current log entry. */
export class ReplayClock {
  micros = 0;

  now(): number {
    return this.micros / 1000;
  }
}

/** A rate limiter on the clock of a replay. */
export class Replay {
  readonly #limiter: RateLimiter;

  constructor(limits: Limits, clock: ReplayClock) {
    // Evicting a key before it expires would make the counts wrong.
    this.#limiter = new RateLimiter({ limits, store: new MemoryStore({ clock, maxKeys: Number.MAX_SAFE_INTEGER }) });
  }

  decide(key: string, cost: number): Decision {
    return (cost === 1 ? this.#limiter.decide(key) : this.#limiter.decide(key, { cost })) as Decision;
  }
}

/** More units than any log holds, and less than the largest valid cost. */
const UNREACHABLE = 2 ** 52;

/**
 * Counts the units of a key in the last window, or in the current period, exactly. Its limit is unreachable.
 */
export class WindowCounter {
  readonly #replay: Replay;

  constructor({ windowMs, periods }: Span, clock: ReplayClock) {
    const limit =
      periods === undefined
        ? rollingWindow({ limit: UNREACHABLE, window: `${windowMs}ms` })
        : createPeriodicLimit(UNREACHABLE, periods);
    this.#replay = new Replay(limit, clock);
  }

  /** Adds units and returns the new count. */
  add(key: string, units: number): number {
    return UNREACHABLE - this.#replay.decide(key, units).remaining;
  }

  /** Returns the count. A check above the limit is rejected and changes nothing, and its decision contains what is free. */
  count(key: string): number {
    return UNREACHABLE - this.#replay.decide(key, UNREACHABLE + 1).remaining;
  }
}
