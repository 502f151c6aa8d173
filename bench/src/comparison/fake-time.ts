import { type Clock, install } from '@sinonjs/fake-timers';

/** What a library in memory reads and sets. Sockets and promises keep the real time. */
const CLOCKS = ['Date', 'performance', 'hrtime'] as const;
const TIMERS = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;

/** A full hour of the clock, so that windows that follow the clock begin then, too. */
const START = Date.UTC(2026, 0, 1);

/** The time of this process, which stands still until a probe moves it. */
export class FakeTime {
  readonly #clock: Clock;

  private constructor(faked: readonly (typeof CLOCKS | typeof TIMERS)[number][]) {
    this.#clock = install({ now: START, toFake: [...faked] });
  }

  /** Fakes clocks and timers. */
  static start(): FakeTime {
    return new FakeTime([...CLOCKS, ...TIMERS]);
  }

  /** Fakes the clocks only, because clients of a server need their timers. */
  static startWithoutTimers(): FakeTime {
    return new FakeTime(CLOCKS);
  }

  /** In milliseconds since the start. */
  get ms(): number {
    return this.#clock.now - START;
  }

  get timerCount(): number {
    return this.#clock.countTimers();
  }

  /** Moves the time to `ms` milliseconds after the start, and runs the timers that are due. */
  moveTo(ms: number): void {
    this.#clock.tick(ms - this.ms);
  }
}
