import { type Decision, type Limit, MemoryStore, RateLimiter } from '@rollgate/core';

/** Requests of one key through a limiter in memory, under a clock that shows what each of them says. */
export class Trial {
  #micros = 0;
  readonly #store = new MemoryStore({ clock: { now: () => this.#micros / 1000 } });
  readonly #limiter: RateLimiter;

  constructor(limit: Limit) {
    this.#limiter = new RateLimiter({ limits: limit, store: this.#store });
  }

  /** When a request that comes then, in microseconds, goes on its way: later for who waits in a queue; never, when refused. */
  ask(micros: number): number | undefined {
    this.#micros = micros;
    const { allowed, delayMs } = this.#limiter.decide('key') as Decision;
    return allowed ? micros + Math.round(delayMs * 1000) : undefined;
  }

  /** Forgets what was asked. */
  close(): void {
    this.#store.close();
  }
}

/** When the requests that come at these times go on their way, as far as they do. */
export function departuresOf(limit: Limit, times: readonly number[]): number[] {
  const trial = new Trial(limit);
  const departures = times.map((micros) => trial.ask(micros)).filter((micros) => micros !== undefined);
  trial.close();
  return departures;
}

/** For each of these times, which never decrease, how many lie in the window `(time - width, time]`, up to itself. */
export function inWindowOfEach(times: readonly number[], width: number): number[] {
  return times.map((time, index) => {
    let first = index;
    while (first > 0 && times[first - 1]! > time - width) first -= 1;
    return index - first + 1;
  });
}

/** The most of these times, which never decrease, in any window of this width. */
export function mostInAnyWindow(times: readonly number[], width: number): number {
  return inWindowOfEach(times, width).reduce((most, count) => Math.max(most, count), 0);
}
