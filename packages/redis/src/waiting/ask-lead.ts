/** The least time by which a process asks for a turn before it comes. */
const LEAST_MS = 4;
/** By how much a reply may take longer than the recent ones. */
const MARGIN = 1.5;
/** How much the slowest recent question counts after each further one. */
const DECAY = 0.9;
/** The most of the horizon. The rest covers turns that come after the first one. */
const MOST_OF_HORIZON = 0.6;

/**
 * How long before a turn a process asks for it. A script grants the turns within a horizon that starts with it, so a process that asks
 * late gets more of them. The time follows how late timers and replies have come, so that a turn is known before it comes.
 */
export class AskLead {
  #slowestMs = 0;

  /** A reply has come so long after the time at which the process wanted to ask. */
  note(tookMs: number): void {
    this.#slowestMs = Math.max(tookMs, DECAY * this.#slowestMs);
  }

  leadMs(horizonMicros: number): number {
    return Math.min(Math.max(LEAST_MS, MARGIN * this.#slowestMs), (MOST_OF_HORIZON * horizonMicros) / 1000);
  }
}
