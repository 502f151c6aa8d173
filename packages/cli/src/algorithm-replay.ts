import { startMicros } from '@rollgate/core/store';
import { type Algorithm, createLimit, type Quota } from './algorithms.js';
import { DelayedStarts } from './delayed-starts.js';
import type { Caller, Entry } from './log/entry.js';
import { Replay, ReplayClock, WindowCounter } from './replay.js';

/** An algorithm with a window, or that of the quota's calendar. */
export type ComparedAlgorithm = Algorithm | 'calendar';

/** The decisions of one algorithm, compared with an exact window over the starts of the requests that it allowed itself. */
export interface Row {
  readonly algorithm: ComparedAlgorithm;
  readonly allowedRequests: number;
  readonly rejectedRequests: number;
  readonly rejectedCallers: number;
  /** Requests that started although the last window was full. */
  readonly overAdmitted: number;
  /** Requests rejected although the last window had room. */
  readonly underAdmitted: number;
  /** The most units of one caller that started in any window. */
  readonly mostInWindow: number;
}

/** One algorithm with its own state. */
export class AlgorithmReplay {
  readonly #algorithm: ComparedAlgorithm;
  readonly #limit: number;
  readonly #clock = new ReplayClock();
  readonly #replay: Replay;
  /** The rejected units. Most callers have none. */
  readonly #rejected: WindowCounter;
  readonly #rejectedCallers = new Set<Caller>();
  /** Only a queue delays requests. */
  readonly #starts: DelayedStarts | undefined;
  #allowedRequests = 0;
  #rejectedRequests = 0;
  #over = 0;
  #under = 0;
  #most = 0;

  /** How much later than those of the clock the windows begin. */
  readonly shiftMicros: number;

  constructor(algorithm: ComparedAlgorithm, { periods, ...quota }: Quota, shiftMicros = 0) {
    this.#algorithm = algorithm;
    this.shiftMicros = shiftMicros;
    this.#limit = quota.limit;
    const limit =
      algorithm === 'calendar' ? createLimit('rolling', { ...quota, periods }) : createLimit(algorithm, quota);
    this.#replay = new Replay(limit, this.#clock);
    if (limit.orderStarts) this.#starts = new DelayedStarts(quota.windowMs, (inWindow) => this.#countStart(inWindow));
    this.#rejected = new WindowCounter(quota, this.#clock);
  }

  /**
   * Decides a request and returns whether it is allowed. `requested` counts the units that the caller requested in the last
   * window, including this request. Without delays, those that were not rejected have started.
   */
  decide(entry: Entry, requested: number): boolean {
    const { micros, caller, cost } = entry;
    this.#clock.micros = micros - this.shiftMicros;
    const { allowed, delayMs } = this.#replay.decide(caller.key, cost);
    if (allowed) this.#allowedRequests += 1;
    else {
      this.#rejectedRequests += 1;
      this.#rejectedCallers.add(caller);
    }
    if (this.#starts !== undefined) this.#countDelayed(this.#starts, entry, allowed, delayMs);
    else if (allowed) {
      const rejected = this.#rejectedCallers.has(caller) ? this.#rejected.count(caller.key) : 0;
      this.#countStart(requested - rejected);
    } else this.#countRejected(requested - this.#rejected.add(caller.key, cost) + cost);
    return allowed;
  }

  #countDelayed(starts: DelayedStarts, { micros, caller, cost }: Entry, isAllowed: boolean, delayMs: number): void {
    if (isAllowed) starts.add({ micros: startMicros(micros / 1000, delayMs), key: caller.key, cost }, micros);
    else this.#countRejected(starts.count(caller.key, micros) + cost);
  }

  #countStart(inWindow: number): void {
    if (inWindow > this.#limit) this.#over += 1;
    if (inWindow > this.#most) this.#most = inWindow;
  }

  /** @param inWindow The units in the window if the request had been allowed without a delay. */
  #countRejected(inWindow: number): void {
    if (inWindow <= this.#limit) this.#under += 1;
  }

  /** Call it once, after all entries. */
  result(): Row {
    this.#starts?.startUntil(Infinity);
    return {
      algorithm: this.#algorithm,
      allowedRequests: this.#allowedRequests,
      rejectedRequests: this.#rejectedRequests,
      rejectedCallers: this.#rejectedCallers.size,
      overAdmitted: this.#over,
      underAdmitted: this.#under,
      mostInWindow: this.#most,
    };
  }
}
