import TinyQueue from 'tinyqueue';
import { ReplayClock, WindowCounter } from './replay.js';

/** An allowed request that starts after its delay. */
interface Start {
  readonly micros: number;
  readonly key: string;
  readonly cost: number;
}

/** The requests that a queue has allowed, which count when they start. */
export class DelayedStarts {
  readonly #waiting = new TinyQueue<Start>([], (one, other) => one.micros - other.micros);
  readonly #clock = new ReplayClock();
  readonly #counter: WindowCounter;
  readonly #onStart: (inWindow: number) => void;

  /** @param onStart Called for each start, with the caller's units in the window that ends with it. */
  constructor(windowMs: number, onStart: (inWindow: number) => void) {
    this.#counter = new WindowCounter({ windowMs }, this.#clock);
    this.#onStart = onStart;
  }

  /** Adds a request, which starts at `nowMicros` or later. */
  add(start: Start, nowMicros: number): void {
    this.#waiting.push(start);
    this.startUntil(nowMicros); // So that no more requests wait than the queues hold.
  }

  /** Starts the requests whose delay is over by then. Times never decrease. */
  startUntil(micros: number): void {
    for (let next = this.#waiting.peek(); next !== undefined && next.micros <= micros; next = this.#waiting.peek()) {
      this.#waiting.pop();
      this.#clock.micros = next.micros;
      this.#onStart(this.#counter.add(next.key, next.cost));
    }
  }

  /** Returns the caller's units that have started in the last window. */
  count(key: string, micros: number): number {
    this.startUntil(micros);
    this.#clock.micros = micros;
    return this.#counter.count(key);
  }
}
