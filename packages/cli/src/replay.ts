import { type Decision, type Limits, MemoryStore, RateLimiter, rollingWindow } from '@rollgate/core';

/** What times a replay: it stands where the log is. */
export class ReplayClock {
  micros = 0;

  now(): number {
    return this.micros / 1000;
  }
}

/** Rollgate itself, on a replay's clock. */
export class Replay {
  readonly #limiter: RateLimiter;

  constructor(limits: Limits, clock: ReplayClock) {
    // No key is to be given up before it has expired: the counts would no longer be true.
    this.#limiter = new RateLimiter({ limits, store: new MemoryStore({ clock, maxKeys: Number.MAX_SAFE_INTEGER }) });
  }

  decide(key: string, cost: number): Decision {
    return (cost === 1 ? this.#limiter.decide(key) : this.#limiter.decide(key, { cost })) as Decision;
  }
}

/** More than any log holds, and less than the greatest cost. */
const UNREACHABLE = 2 ** 52;

/**
 * How many units of a key lie in the last window, exactly: Rollgate's own rolling window, with a limit that nothing reaches.
 */
export class WindowCounter {
  readonly #replay: Replay;

  constructor(windowMs: number, clock: ReplayClock) {
    this.#replay = new Replay(rollingWindow({ limit: UNREACHABLE, window: windowMs }), clock);
  }

  /** Adds, and counts. */
  add(key: string, units: number): number {
    return UNREACHABLE - this.#replay.decide(key, units).remaining;
  }

  /** What costs more than the limit is refused, leaves no trace, and is told what is free. */
  count(key: string): number {
    return UNREACHABLE - this.#replay.decide(key, UNREACHABLE + 1).remaining;
  }
}
