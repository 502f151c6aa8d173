import { type Decision, type Limit, MemoryStore, RateLimiter } from '@rollgate/core';
import { startMicros } from '@rollgate/core/store';

/** A limiter in memory with one key, whose clock shows the time of each request. */
export class Trial {
  #micros = 0;
  readonly #store = new MemoryStore({ clock: { now: () => this.#micros / 1000 } });
  readonly #limiter: RateLimiter;

  constructor(limit: Limit) {
    this.#limiter = new RateLimiter({ limits: limit, store: this.#store });
  }

  /** Returns when a request that comes at `micros` starts, or `undefined` if it is rejected. A queue may delay it. */
  startTime(micros: number): number | undefined {
    this.#micros = micros;
    const { allowed, delayMs } = this.#limiter.decide('key') as Decision;
    return allowed ? startMicros(micros / 1000, delayMs) : undefined;
  }

  close(): void {
    this.#store.close();
  }
}

/** The start times of the allowed requests that come at these times. */
export function startTimesOf(limit: Limit, times: readonly number[]): number[] {
  const trial = new Trial(limit);
  const startTimes = times.map((micros) => trial.startTime(micros)).filter((micros) => micros !== undefined);
  trial.close();
  return startTimes;
}

/** For each time, how many times up to it are in the window `(time - width, time]`. The times never decrease. */
export function inWindowOfEach(times: readonly number[], width: number): number[] {
  return times.map((time, index) => {
    let first = index;
    while (first > 0 && times[first - 1]! > time - width) first -= 1;
    return index - first + 1;
  });
}

/** The most times in any window of this width. The times never decrease. */
export function mostInAnyWindow(times: readonly number[], width: number): number {
  return inWindowOfEach(times, width).reduce((most, count) => Math.max(most, count), 0);
}
