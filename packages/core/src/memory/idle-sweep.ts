import { type Clock, readMicros } from '../time/clock.js';
import { startBackgroundTimer, type Timer } from '../util/background-timer.js';

/** How many keys a run of the timer examines, few enough not to delay a request noticeably. */
const SWEEPS_PER_RUN = 5_000;
const IDLE_MS = 1_000;
const BACKLOG_MS = 5;

/** The keys of a store. */
export interface SweptKeys {
  /** The number of keys. */
  readonly size: number;
  /** Drops keys whose grace is over, in at most `steps` steps. Returns whether any may be left. */
  sweep(nowMicros: number, steps: number): boolean;
}

/** Drops expired keys while there are keys. Its timer does not keep the process alive. */
export class IdleSweep {
  #timer: Timer | undefined;
  /** What the timer has of the store, so that an unused store can be collected before its keys expire. */
  readonly #self = referWeakly(this);

  constructor(
    private readonly clock: Clock,
    private readonly keys: SweptKeys,
  ) {}

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
    this.#timer = startBackgroundTimer(() => self.deref()?.run(), delayMs);
  }

  private run(): void {
    this.#timer = undefined;
    let isBehind = false;
    try {
      isBehind = this.keys.sweep(readMicros(this.clock), SWEEPS_PER_RUN);
    } catch {
      // An invalid clock throws at the next check. Thrown from a timer, its error would end the process.
    }
    if (this.keys.size > 0) this.#startTimer(isBehind ? BACKLOG_MS : IDLE_MS);
  }
}

/**
 * Returns a weak reference. On platforms without `WeakRef`, such as Cloudflare Workers with a compatibility date before
 * May 2025, it keeps the target from being collected.
 */
function referWeakly<Target extends object>(target: Target): Pick<WeakRef<Target>, 'deref'> {
  return typeof WeakRef === 'undefined' ? { deref: () => target } : new WeakRef(target);
}
