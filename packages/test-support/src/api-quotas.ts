// The quotas of APIs, which decide by a time that the caller passes, so that they work in virtual time, too.

/** What an API knows after a call. */
export interface QuotaStatus {
  readonly isAllowed: boolean;
  readonly limit: number;
  /** The units that are left, perhaps a fraction. */
  readonly remaining: number;
  /** When the quota resets: its window ends, it is full, or its oldest call no longer counts. */
  readonly resetMs: number;
  /** When a call like this one would be allowed. 0 if this one is. */
  readonly retryMs: number;
  /** The time of the call. */
  readonly nowMs: number;
}

/** Decides on calls, and counts those that it allows. */
export interface ApiQuota {
  /** Tests change it, as a server may. */
  limit: number;
  /** The length of a window, or in how long an empty quota refills. */
  readonly windowMs: number;
  serve(cost: number, nowMs: number): QuotaStatus;
}

abstract class WindowQuota implements ApiQuota {
  #endMs = -Infinity;
  #used = 0;

  constructor(
    public limit: number,
    readonly windowMs: number,
  ) {}

  /** The end of the window that a call at this time opens. */
  protected abstract endOf(nowMs: number): number;

  serve(cost: number, nowMs: number): QuotaStatus {
    if (nowMs >= this.#endMs) [this.#endMs, this.#used] = [this.endOf(nowMs), 0];
    const { limit } = this;
    const isAllowed = this.#used + cost <= limit;
    if (isAllowed) this.#used += cost;
    const resetMs = this.#endMs - nowMs;
    return { isAllowed, limit, remaining: Math.max(0, limit - this.#used), resetMs, retryMs: isAllowed ? 0 : resetMs, nowMs }; // biome-ignore format: short
  }
}

/** Windows that follow the clock. */
export class AlignedWindows extends WindowQuota {
  protected override endOf(nowMs: number): number {
    return (Math.floor(nowMs / this.windowMs) + 1) * this.windowMs;
  }
}

/** Windows of which each starts with a call. */
export class StartedWindows extends WindowQuota {
  protected override endOf(nowMs: number): number {
    return nowMs + this.windowMs;
  }
}

/** Units that refill continuously. */
export class RefillingQuota implements ApiQuota {
  #level: number;
  #atMs: number | undefined;

  constructor(
    public limit: number,
    readonly windowMs: number,
  ) {
    this.#level = limit;
  }

  serve(cost: number, nowMs: number): QuotaStatus {
    const { limit, windowMs } = this;
    this.#level = Math.min(limit, this.#level + ((nowMs - (this.#atMs ?? nowMs)) * limit) / windowMs);
    this.#atMs = nowMs;
    const isAllowed = this.#level >= cost;
    if (isAllowed) this.#level -= cost;
    const msOf = (units: number) => (units * windowMs) / limit;
    const retryMs = isAllowed ? 0 : msOf(cost - this.#level);
    return { isAllowed, limit, remaining: this.#level, resetMs: msOf(limit - this.#level), retryMs, nowMs };
  }
}

/** An exact rolling window, in which each call takes one unit. */
export class RollingQuota implements ApiQuota {
  readonly #hits: number[] = [];

  constructor(
    public limit: number,
    readonly windowMs: number,
  ) {}

  serve(_cost: number, nowMs: number): QuotaStatus {
    while (this.#hits.length > 0 && this.#hits[0]! <= nowMs - this.windowMs) this.#hits.shift();
    const { limit } = this;
    const isAllowed = this.#hits.length < limit;
    if (isAllowed) this.#hits.push(nowMs);
    const resetMs = this.#hits.length === 0 ? 0 : this.#hits[0]! + this.windowMs - nowMs;
    const remaining = Math.max(0, limit - this.#hits.length);
    return { isAllowed, limit, remaining, resetMs, retryMs: isAllowed ? 0 : resetMs, nowMs };
  }
}
