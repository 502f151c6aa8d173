import { ALGORITHMS, type Algorithm, makeLimit, type Quota } from './limits.js';
import type { Caller, Entry } from './log/entry.js';
import { Replay, ReplayClock, WindowCounter } from './replay.js';
import { type Timeline, TimelineCounter } from './timeline.js';
import { Totals } from './totals.js';

/** What one algorithm made of the log, beside an exact window over what this very algorithm let through. */
export interface Row {
  readonly algorithm: Algorithm;
  readonly letThrough: number;
  readonly refusedRequests: number;
  readonly refusedCallers: number;
  /** Requests let through although the last window had no room for them. */
  readonly overAdmitted: number;
  /** Requests refused although it had. */
  readonly underAdmitted: number;
  /** The most units of one caller that were let through in any window. */
  readonly mostInWindow: number;
}

export interface Comparison {
  readonly requests: number;
  readonly callers: number;
  readonly firstMicros: number;
  readonly lastMicros: number;
  readonly rows: readonly Row[];
  /** Of the refused requests, by algorithm. */
  readonly timeline: Timeline<Algorithm>;
}

/** One algorithm with a history of its own. */
class Contestant {
  readonly #algorithm: Algorithm;
  readonly #limit: number;
  readonly #clock = new ReplayClock();
  readonly #replay: Replay;
  /** What it refused; most callers are never in it. */
  readonly #refused: WindowCounter;
  readonly #refusedCallers = new Set<Caller>();
  #letThrough = 0;
  #refusedRequests = 0;
  #over = 0;
  #under = 0;
  #most = 0;

  constructor(algorithm: Algorithm, quota: Quota) {
    this.#algorithm = algorithm;
    this.#limit = quota.limit;
    this.#replay = new Replay(makeLimit(algorithm, quota), this.#clock);
    this.#refused = new WindowCounter(quota.windowMs, this.#clock);
  }

  /**
   * Whether it lets the request through. `asked` is what the caller asked for in the last window, with this request: what was
   * let through of it is the rest of what was refused.
   */
  ask({ micros, caller, cost }: Entry, asked: number): boolean {
    this.#clock.micros = micros;
    const { allowed } = this.#replay.decide(caller.key, cost);
    if (allowed) {
      const refused = this.#refusedCallers.has(caller) ? this.#refused.count(caller.key) : 0;
      this.#noteLetThrough(asked - refused);
    } else {
      this.#refusedCallers.add(caller);
      this.#noteRefused(asked - this.#refused.add(caller.key, cost) + cost);
    }
    return allowed;
  }

  #noteLetThrough(inWindow: number): void {
    this.#letThrough += 1;
    if (inWindow > this.#limit) this.#over += 1;
    if (inWindow > this.#most) this.#most = inWindow;
  }

  /** @param wouldBe What would be in the window, had it been let through. */
  #noteRefused(wouldBe: number): void {
    this.#refusedRequests += 1;
    if (wouldBe <= this.#limit) this.#under += 1;
  }

  result(): Row {
    return {
      algorithm: this.#algorithm,
      letThrough: this.#letThrough,
      refusedRequests: this.#refusedRequests,
      refusedCallers: this.#refusedCallers.size,
      overAdmitted: this.#over,
      underAdmitted: this.#under,
      mostInWindow: this.#most,
    };
  }
}

/** So many entries go through one algorithm before the next has its turn, so that its keys are at hand in the processor. */
const TURN = 4096;

/** Replays entries, whose times never decrease, through all algorithms side by side. */
export class Comparer {
  readonly #contestants: readonly Contestant[];
  readonly #clock = new ReplayClock();
  readonly #asked: WindowCounter;
  readonly #timeline = new TimelineCounter(ALGORITHMS);
  readonly #totals = new Totals();
  readonly #entries: Entry[] = [];

  constructor(quota: Quota) {
    this.#asked = new WindowCounter(quota.windowMs, this.#clock);
    this.#contestants = ALGORITHMS.map((algorithm) => new Contestant(algorithm, quota));
  }

  add(entry: Entry): void {
    this.#totals.add(entry);
    this.#entries.push(entry);
    if (this.#entries.length === TURN) this.#ask();
  }

  result(): Comparison {
    this.#ask();
    const { requests, callers, firstMicros, lastMicros } = this.#totals;
    return {
      requests,
      callers,
      firstMicros,
      lastMicros,
      rows: this.#contestants.map((contestant) => contestant.result()),
      timeline: this.#timeline.result(),
    };
  }

  #ask(): void {
    const entries = this.#entries.splice(0);
    const asked = entries.map(({ micros, caller, cost }) => {
      this.#clock.micros = micros;
      return this.#asked.add(caller.key, cost);
    });
    for (const [series, contestant] of this.#contestants.entries()) {
      for (const [index, entry] of entries.entries()) {
        const place = this.#timeline.at(entry.micros);
        if (!contestant.ask(entry, asked[index]!)) this.#timeline.count(series, place);
      }
    }
  }
}
