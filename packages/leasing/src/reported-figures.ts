import type { LimitDecision } from '@rollgate/core';

/** What the store reported about a key last. All times are milliseconds of this process's clock. */
export class ReportedFigures {
  /** The units that no process holds. */
  free: number;
  /** When the store reported it. */
  atMs = -Infinity;
  #resetAtMs = -Infinity;
  #nextUnitAtMs = -Infinity;

  constructor(readonly limit: number) {
    this.free = limit;
  }

  note(
    { remaining, resetMs, nextUnitMs = 0 }: Pick<LimitDecision, 'remaining' | 'resetMs' | 'nextUnitMs'>,
    nowMs: number,
  ): void {
    this.atMs = nowMs;
    this.free = remaining;
    this.#resetAtMs = nowMs + resetMs;
    this.#nextUnitAtMs = nowMs + nextUnitMs;
  }

  /** The figures of an allowed check. `unspent` are the units that this process holds. */
  at(nowMs: number, unspent: number): LimitDecision {
    const nextUnitMs = this.#nextUnitAtMs - nowMs;
    return {
      allowed: true,
      limit: this.limit,
      remaining: Math.min(this.limit, this.free + unspent),
      retryAfterMs: 0,
      resetMs: Math.max(0, this.#resetAtMs - nowMs),
      nextUnitMs: nextUnitMs > 0 ? nextUnitMs : undefined,
      delayMs: 0,
      remainingIsEstimate: true,
    };
  }

  toJSON(): object {
    return { free: this.free, atMs: this.atMs, resetAtMs: this.#resetAtMs, nextUnitAtMs: this.#nextUnitAtMs };
  }
}
