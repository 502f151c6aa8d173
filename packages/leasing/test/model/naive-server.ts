import type { LimitDecision } from '@rollgate/core';

/** A recorded check. */
export interface Hit {
  readonly id: number;
  readonly atMs: number;
  readonly windowMs: number;
  units: number;
}

/** The log of one key, as simple as it can be. */
export class NaiveServer {
  hits: Hit[] = [];
  /** When each hit was recorded. */
  readonly timesMs: number[] = [];
  #ids = 0;

  /** Tests the units, and records them if they are free. Returns the hit, and what a decision reports. */
  check(limit: number, windowMs: number, units: number, nowMs: number): { hit?: Hit; result: LimitDecision } {
    const live = this.live(nowMs);
    const free = limit - live.reduce((sum, hit) => sum + hit.units, 0);
    const allowed = units <= free;
    const hit = { id: this.#ids++, atMs: nowMs, windowMs, units };
    this.timesMs.push(nowMs);
    if (allowed) this.hits.push(hit);
    const after = this.live(nowMs);
    const result = {
      allowed,
      limit,
      remaining: Math.max(0, allowed ? free - units : free),
      retryAfterMs: allowed ? 0 : waitFor(live, units - free, nowMs),
      resetMs: Math.max(0, ...after.map(({ atMs }) => atMs + windowMs - nowMs)),
      nextUnitMs: after.length === 0 ? 0 : after[0]!.atMs + windowMs - nowMs,
      delayMs: 0,
      ...(allowed ? {} : { reason: 'limit' as const }),
    };
    return allowed ? { hit, result } : { result };
  }

  /** Removes units of a hit. Running it twice removes them twice, as in a log of hits. */
  remove(id: number, units: number): void {
    const hit = this.hits.find((one) => one.id === id);
    if (hit !== undefined) hit.units = Math.max(0, hit.units - units);
    this.hits = this.hits.filter((one) => one.units > 0);
  }

  live(nowMs: number): Hit[] {
    return this.hits.filter(({ atMs, windowMs }) => atMs > nowMs - windowMs);
  }
}

/** The wait until so many units have left the window. */
function waitFor(live: readonly Hit[], units: number, nowMs: number): number {
  let left = units;
  for (const hit of live) {
    left -= hit.units;
    if (left <= 0) return hit.atMs + hit.windowMs - nowMs;
  }
  return Infinity;
}
