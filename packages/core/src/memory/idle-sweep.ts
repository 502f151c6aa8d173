import { startBackgroundTimer, type Timer } from '../base/background-timer.js';
import { referWeakly } from '../base/weak-reference.js';
import { type Clock, readMicros } from '../time/clock.js';
import type { Namespaces } from './namespaces.js';
import type { Reclaimer } from './reclaimer.js';

/** How many keys a run of the timer examines, few enough not to delay a request noticeably. */
const SWEEPS_PER_RUN = 5_000;
const IDLE_MS = 1_000;
const BACKLOG_MS = 5;

/** Drops expired keys while there are keys. Its timer does not keep the process alive. */
export class IdleSweep {
  readonly #clock: Clock;
  readonly #namespaces: Namespaces;
  readonly #reclaimer: Reclaimer;
  #timer: Timer | undefined;
  /** What the timer has of the store, so that an unused store can be collected before its keys expire. */
  readonly #self = referWeakly(this);

  constructor(clock: Clock, namespaces: Namespaces, reclaimer: Reclaimer) {
    this.#clock = clock;
    this.#namespaces = namespaces;
    this.#reclaimer = reclaimer;
  }

  /** Call it when a key was added. */
  start(): void {
    if (this.#timer === undefined) this.#startTimer(IDLE_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #startTimer(delayMs: number): void {
    const self = this.#self;
    this.#timer = startBackgroundTimer(() => {
      const sweep = self.deref();
      if (sweep !== undefined) sweep.#run();
    }, delayMs);
  }

  #run(): void {
    this.#timer = undefined;
    let isBehind = false;
    try {
      isBehind = this.#reclaimer.sweep(readMicros(this.#clock), SWEEPS_PER_RUN);
    } catch {
      // An invalid clock throws at the next check. Thrown from a timer, its error would end the process.
    }
    if (this.#namespaces.size > 0) this.#startTimer(isBehind ? BACKLOG_MS : IDLE_MS);
  }
}
