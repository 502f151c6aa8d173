import type { ManualClock } from '@rollgate/core';

/** What an API does with a call. */
export interface Served {
  readonly isAllowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** Decides on calls at the time of its own clock. */
export interface Quota {
  limit: number;
  serve(cost: number, nowMs: number): Served;
}

const seconds = (ms: number) => (ms / 1000).toFixed(3);

/** Windows that follow the clock, with the headers that `describe` returns. */
export class FixedWindowQuota implements Quota {
  #window = -1;
  #used = 0;

  constructor(
    public limit: number,
    readonly windowMs: number,
    readonly describe: (remaining: number, limit: number, resetAtMs: number, nowMs: number) => Record<string, string>,
  ) {}

  serve(cost: number, nowMs: number): Served {
    const window = Math.floor(nowMs / this.windowMs);
    if (window !== this.#window) this.#used = 0;
    this.#window = window;
    const isAllowed = this.#used + cost <= this.limit;
    if (isAllowed) this.#used += cost;
    const endMs = (window + 1) * this.windowMs;
    const headers = this.describe(Math.max(0, this.limit - this.#used), this.limit, endMs, nowMs);
    return {
      isAllowed,
      headers: isAllowed ? headers : { ...headers, 'retry-after': String(Math.ceil((endMs - nowMs) / 1000)) },
    };
  }
}

/** As GitHub reports it: the reset in whole seconds since the Unix epoch. */
export const describeGithub: FixedWindowQuota['describe'] = (remaining, limit, resetAtMs) => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(Math.ceil(resetAtMs / 1000)),
  'x-ratelimit-resource': 'core',
});

/** As Discord reports it: the seconds until the reset, and the bucket. */
export const describeDiscord: FixedWindowQuota['describe'] = (remaining, limit, resetAtMs, nowMs) => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset-after': seconds(resetAtMs - nowMs),
  'x-ratelimit-bucket': 'abcd1234',
});

/** Tokens that refill continuously, with the headers of OpenAI. */
export class TokenQuota implements Quota {
  #level: number;
  #atMs = 0;

  constructor(
    public limit: number,
    readonly refillMs: number,
  ) {
    this.#level = limit;
  }

  serve(cost: number, nowMs: number): Served {
    this.#level = Math.min(this.limit, this.#level + ((nowMs - this.#atMs) * this.limit) / this.refillMs);
    this.#atMs = nowMs;
    const isAllowed = this.#level >= cost;
    if (isAllowed) this.#level -= cost;
    const msOf = (tokens: number) => Math.ceil((tokens * this.refillMs) / this.limit);
    const headers = {
      'x-ratelimit-limit-tokens': String(this.limit),
      'x-ratelimit-remaining-tokens': String(Math.floor(this.#level)),
      'x-ratelimit-reset-tokens': `${msOf(this.limit - this.#level)}ms`,
    };
    return {
      isAllowed,
      headers: isAllowed ? headers : { ...headers, 'retry-after-ms': String(msOf(cost - this.#level)) },
    };
  }
}

/** An exact rolling window, with the headers of the drafts: seconds until one more unit is free. */
export class RollingQuota implements Quota {
  readonly #hits: number[] = [];

  constructor(
    public limit: number,
    readonly windowMs: number,
  ) {}

  serve(_cost: number, nowMs: number): Served {
    while (this.#hits.length > 0 && this.#hits[0]! <= nowMs - this.windowMs) this.#hits.shift();
    const isAllowed = this.#hits.length < this.limit;
    if (isAllowed) this.#hits.push(nowMs);
    const untilMs = this.#hits.length === 0 ? 0 : this.#hits[0]! + this.windowMs - nowMs;
    const headers = {
      'ratelimit-policy': `"default";q=${this.limit};w=${this.windowMs / 1000}`,
      ratelimit: `"default";r=${this.limit - this.#hits.length};t=${Math.ceil(untilMs / 1000)}`,
    };
    return { isAllowed, headers };
  }
}

/** What happened at an API. */
export interface Totals {
  allowedUnits: number;
  allowed: number;
  rejected: number;
}

/** A server in virtual time, whose clock differs from that of its clients. */
export class SimulatedApi {
  readonly totals: Totals = { allowedUnits: 0, allowed: 0, rejected: 0 };

  constructor(
    readonly clock: ManualClock,
    readonly quota: Quota,
    readonly random: () => number,
    readonly options: { readonly latencyMs: readonly [number, number]; readonly aheadMs: number },
  ) {}

  /** A call of another client. */
  serveForeign(cost: number): void {
    this.quota.serve(cost, this.#nowMs());
  }

  /** Answers like `fetch`. The cost of a call is in its address. */
  readonly fetch: typeof globalThis.fetch = async (input) => {
    const cost = Number(new URL(input as string).searchParams.get('cost') ?? 1);
    await this.#travel();
    const nowMs = this.#nowMs();
    const { isAllowed, headers } = this.quota.serve(cost, nowMs);
    if (isAllowed) {
      this.totals.allowed++;
      this.totals.allowedUnits += cost;
    } else this.totals.rejected++;
    const date = new Date(nowMs - (nowMs % 1000)).toUTCString();
    await this.#travel();
    return new Response('{}', { status: isAllowed ? 200 : 429, headers: { ...headers, date } });
  };

  #nowMs(): number {
    return this.clock.now() + this.options.aheadMs;
  }

  /** Half of the way takes between half of the least and of the greatest latency. */
  #travel(): Promise<void> {
    const [least, greatest] = this.options.latencyMs;
    const ms = (least + this.random() * (greatest - least)) / 2;
    return new Promise((resolve) => this.clock.schedule(this.clock.now() + ms, resolve));
  }
}
