import type { ManualClock } from '@rollgate/core';
import type { ApiQuota, QuotaStatus } from '@rollgate/test-support/api-quotas';
import type { LimitedApi } from '@rollgate/test-support/limited-apis';

/** What happened at an API. */
export interface Totals {
  allowedUnits: number;
  allowed: number;
  rejected: number;
  /** The rejected calls that were sent after a response had reported the limit which rejected them. */
  rejectedByKnownLimit: number;
}

interface SimulatedApiOptions {
  readonly api: LimitedApi;
  readonly quota: ApiQuota;
  readonly latencyMs: readonly [number, number];
  readonly aheadMs: number;
}

/** A server in virtual time, whose clock differs from that of its clients. */
export class SimulatedApi {
  readonly totals: Totals = { allowedUnits: 0, allowed: 0, rejected: 0, rejectedByKnownLimit: 0 };
  /** As the last response has reported it. */
  #knownLimit: number | undefined;

  constructor(
    readonly clock: ManualClock,
    readonly random: () => number,
    readonly options: SimulatedApiOptions,
  ) {}

  /** A call of another client. */
  serveForeign(cost: number): void {
    this.#serve(cost);
  }

  /** Answers like `fetch`. The cost of a call is in its address. */
  readonly fetch: typeof globalThis.fetch = async (input) => {
    const cost = Number(new URL(input as string).searchParams.get('cost') ?? 1);
    const knownLimit = this.#knownLimit;
    await this.#travel();
    const quotaStatus = this.#serve(cost);
    if (quotaStatus.isAllowed) {
      this.totals.allowed++;
      this.totals.allowedUnits += cost;
    } else {
      this.totals.rejected++;
      if (knownLimit === quotaStatus.limit) this.totals.rejectedByKnownLimit++;
    }
    const { status, headers, body } = this.options.api.respond(quotaStatus);
    const { nowMs } = quotaStatus;
    const date = new Date(nowMs - (nowMs % 1000)).toUTCString();
    await this.#travel();
    this.#knownLimit = quotaStatus.limit;
    return new Response(JSON.stringify(body), {
      status,
      headers: { 'content-type': 'application/json', ...headers, date },
    });
  };

  #serve(cost: number): QuotaStatus {
    return this.options.quota.serve(cost, this.clock.now() + this.options.aheadMs);
  }

  /** Half of the way takes between half of the least and of the greatest latency. */
  #travel(): Promise<void> {
    const [least, greatest] = this.options.latencyMs;
    const ms = (least + this.random() * (greatest - least)) / 2;
    return new Promise((resolve) => this.clock.schedule(this.clock.now() + ms, resolve));
  }
}
