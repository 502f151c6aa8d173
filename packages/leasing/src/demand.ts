/** How much of one key this process needs per lease. */
export class Demand {
  #startMs = -Infinity;
  #decisions = 0;
  #units = 0;
  #lastDecisions = 0;
  #lastUnits = 0;

  constructor(
    readonly leaseMs: number,
    /** With fewer decisions per lease, plain checks take fewer calls. */
    readonly minDecisions: number,
  ) {}

  /** Counts a check. */
  add(units: number, nowMs: number): void {
    const elapsedMs = nowMs - this.#startMs;
    if (elapsedMs >= this.leaseMs) {
      const isLast = elapsedMs < 2 * this.leaseMs;
      this.#lastDecisions = isLast ? this.#decisions : 0;
      this.#lastUnits = isLast ? this.#units : 0;
      this.#startMs = nowMs;
      this.#decisions = 0;
      this.#units = 0;
    }
    this.#decisions += 1;
    this.#units += units;
  }

  /** Whether leases take fewer calls than plain checks. */
  get isHigh(): boolean {
    return Math.max(this.#decisions, this.#lastDecisions) >= this.minDecisions;
  }

  /** The units that checks take in the time of one lease. */
  get units(): number {
    return Math.max(this.#units, this.#lastUnits);
  }

  toJSON(): object {
    return {
      startMs: this.#startMs,
      decisions: this.#decisions,
      units: this.#units,
      lastDecisions: this.#lastDecisions,
      lastUnits: this.#lastUnits,
    };
  }
}
