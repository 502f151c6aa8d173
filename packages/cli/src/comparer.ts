import { AlgorithmReplay, type ComparedAlgorithm, type Row } from './algorithm-replay.js';
import { ALGORITHMS, type Quota } from './algorithms.js';
import type { Entry } from './log/entry.js';
import { ReplayClock, WindowCounter } from './replay.js';
import { type Timeline, TimelineCounter } from './timeline.js';
import { Totals } from './totals.js';

/** The fixed window whose counter restarts at other moments. */
export interface ShiftedRow extends Row {
  /** How much later than the clock's windows those of this row begin. */
  readonly shiftMs: number;
}

export interface Comparison {
  readonly requests: number;
  readonly callers: number;
  readonly firstMicros: number;
  readonly lastMicros: number;
  readonly rows: readonly Row[];
  /** Of all shifts of the fixed window, the one that allows the most within a window. */
  readonly worstShift: ShiftedRow;
  /** The rejected requests of each algorithm. */
  readonly timeline: Timeline<ComparedAlgorithm>;
}

/** How many moments of the window are tried as the moment at which the counter of the fixed window restarts. */
export const SHIFTS = 12;

/** Entries that one algorithm decides before the next one does, so that its keys stay in the processor's cache. */
const BATCH_SIZE = 4096;

/** Replays entries, whose times never decrease, through all algorithms side by side. */
export class Comparer {
  readonly #replays: readonly AlgorithmReplay[];
  readonly #shifted: readonly AlgorithmReplay[];
  readonly #clock = new ReplayClock();
  readonly #requested: WindowCounter;
  readonly #timeline: TimelineCounter<ComparedAlgorithm>;
  readonly #totals = new Totals();
  readonly #entries: Entry[] = [];

  constructor(quota: Quota) {
    const algorithms: readonly ComparedAlgorithm[] =
      quota.periods === undefined ? ALGORITHMS : ['calendar', ...ALGORITHMS];
    this.#timeline = new TimelineCounter(algorithms);
    this.#requested = new WindowCounter({ windowMs: quota.windowMs }, this.#clock);
    this.#replays = algorithms.map((algorithm) => new AlgorithmReplay(algorithm, quota));
    this.#shifted = Array.from({ length: SHIFTS - 1 }, (_, index) => {
      const shiftMs = Math.round(((index + 1) * quota.windowMs) / SHIFTS);
      return new AlgorithmReplay('fixed', quota, shiftMs * 1000);
    });
  }

  add(entry: Entry): void {
    this.#totals.add(entry);
    this.#entries.push(entry);
    if (this.#entries.length === BATCH_SIZE) this.#flush();
  }

  result(): Comparison {
    this.#flush();
    const { requests, callers, firstMicros, lastMicros } = this.#totals;
    const rows = this.#replays.map((replay) => replay.result());
    return {
      requests,
      callers,
      firstMicros,
      lastMicros,
      rows,
      worstShift: this.#worstShift(rows.find(({ algorithm }) => algorithm === 'fixed')!),
      timeline: this.#timeline.result(),
    };
  }

  #worstShift(unshifted: Row): ShiftedRow {
    const shifted = this.#shifted.map((replay) => ({ ...replay.result(), shiftMs: replay.shiftMicros / 1000 }));
    return shifted.reduce((worst, row) => (row.mostInWindow > worst.mostInWindow ? row : worst), {
      ...unshifted,
      shiftMs: 0,
    });
  }

  #flush(): void {
    const entries = this.#entries.splice(0);
    const requested = entries.map(({ micros, caller, cost }) => {
      this.#clock.micros = micros;
      return this.#requested.add(caller.key, cost);
    });
    for (const [series, replay] of this.#replays.entries()) {
      for (const [index, entry] of entries.entries()) {
        const interval = this.#timeline.intervalAt(entry.micros);
        if (!replay.decide(entry, requested[index]!)) this.#timeline.count(series, interval);
      }
    }
    for (const replay of this.#shifted) {
      for (const [index, entry] of entries.entries()) replay.decide(entry, requested[index]!);
    }
  }
}
