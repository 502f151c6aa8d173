import type { Limit } from '@rollgate/core';
import { type Algorithm, createLimit, type NamedQuota } from './algorithms.js';
import { type Burst, Bursts } from './bursts.js';
import type { Caller, Entry } from './log/entry.js';
import { Replay, ReplayClock } from './replay.js';
import { type Timeline, TimelineCounter } from './timeline.js';
import { Totals } from './totals.js';

/** A caller with at least one rejected request. */
export interface RejectedCaller {
  readonly key: string;
  readonly requests: number;
  readonly rejectedRequests: number;
  /** The worst burst for the limit that rejected the caller most often. */
  readonly worstBurst: Burst & { readonly limit: string };
}

/** The units that a caller requested within one window. */
export interface Demand {
  readonly key: string;
  readonly size: number;
}

export interface Simulation {
  readonly requests: number;
  readonly units: number;
  readonly callers: number;
  readonly rejectedRequests: number;
  readonly rejectedUnits: number;
  readonly rejectedCallers: number;
  /** How many requests each limit rejected, alone or with others, by the limit's name. */
  readonly rejectedByLimit: Readonly<Record<string, number>>;
  /** How many requests only this limit rejected, by the limit's name. */
  readonly rejectedAlone: Readonly<Record<string, number>>;
  /** The highest demand of any caller within the window of each limit, by the limit's name. */
  readonly demands: Readonly<Record<string, Demand>>;
  /** The callers with the most rejected requests, in descending order. */
  readonly worstHit: readonly RejectedCaller[];
  readonly firstMicros: number;
  readonly lastMicros: number;
  readonly timeline: Timeline<'requests' | 'rejected'>;
}

/** The counts of a caller that was rejected at least once. */
interface RejectionCounts {
  readonly caller: Caller;
  requests: number;
  /** By the limit's index. */
  readonly requestsByLimit: number[];
}

const REQUESTS = 0;
const REJECTED = 1;

/** Replays entries, whose times never decrease, through Rollgate and counts the rejections of each caller. */
export class Simulator {
  readonly #quotas: readonly NamedQuota[];
  readonly #clock = new ReplayClock();
  readonly #replay: Replay;
  readonly #bursts: readonly Bursts[];
  readonly #timeline = new TimelineCounter<'requests' | 'rejected'>(['requests', 'rejected']);
  readonly #totals = new Totals();
  readonly #rejected = new Map<Caller, RejectionCounts>();
  /** By the limit's index. */
  readonly #rejectedAlone: number[];
  #units = 0;
  #rejectedRequests = 0;
  #rejectedUnits = 0;

  constructor(algorithm: Algorithm, quotas: readonly NamedQuota[]) {
    const limits: Record<string, Limit> = {};
    for (const quota of quotas) limits[quota.name] = createLimit(algorithm, quota);
    this.#quotas = quotas;
    this.#replay = new Replay(limits, this.#clock);
    this.#rejectedAlone = quotas.map(() => 0);
    this.#bursts = quotas.map((quota) => new Bursts(algorithm, quota, this.#clock, quotas.length === 1));
  }

  add(entry: Entry): void {
    const { micros, caller, cost } = entry;
    this.#clock.micros = micros;
    this.#totals.add(entry);
    this.#units += cost;
    const interval = this.#timeline.intervalAt(micros);
    this.#timeline.count(REQUESTS, interval);
    const decision = this.#replay.decide(caller.key, cost);
    const { allowed } = decision;
    const wasRejected = this.#rejected.has(caller);
    for (const bursts of this.#bursts) bursts.add(entry, decision, wasRejected);
    if (allowed) return;
    this.#timeline.count(REJECTED, interval);
    this.#countRejection(entry, decision.violated);
  }

  /** @param top The number of worst-hit callers to list. */
  result(top: number): Simulation {
    const worstHit = [...this.#rejected.values()].sort((one, other) => other.requests - one.requests).slice(0, top);
    const { requests, callers, firstMicros, lastMicros } = this.#totals;
    return {
      requests,
      callers,
      firstMicros,
      lastMicros,
      units: this.#units,
      rejectedRequests: this.#rejectedRequests,
      rejectedUnits: this.#rejectedUnits,
      rejectedCallers: this.#rejected.size,
      rejectedByLimit: this.#toRecord((index) => this.#countRejectedBy(index)),
      rejectedAlone: this.#toRecord((index) => this.#rejectedAlone[index]!),
      demands: this.#toRecord((index) => this.#bursts[index]!.heaviest),
      worstHit: worstHit.map((counts) => this.#toRejectedCaller(counts)),
      timeline: this.#timeline.result(),
    };
  }

  #countRejection({ caller, cost }: Entry, violated: readonly string[]): void {
    this.#rejectedRequests += 1;
    this.#rejectedUnits += cost;
    let rejected = this.#rejected.get(caller);
    if (rejected === undefined) {
      rejected = { caller, requests: 0, requestsByLimit: this.#quotas.map(() => 0) };
      this.#rejected.set(caller, rejected);
    }
    rejected.requests += 1;
    for (const [index, { name }] of this.#quotas.entries()) {
      if (!violated.includes(name)) continue;
      rejected.requestsByLimit[index]! += 1;
      if (violated.length === 1) this.#rejectedAlone[index]! += 1;
    }
  }

  #toRecord<Value>(toValue: (index: number) => Value): Record<string, Value> {
    return Object.fromEntries(this.#quotas.map(({ name }, index) => [name, toValue(index)]));
  }

  #countRejectedBy(index: number): number {
    let sum = 0;
    for (const { requestsByLimit } of this.#rejected.values()) sum += requestsByLimit[index]!;
    return sum;
  }

  #toRejectedCaller({ caller, requests, requestsByLimit }: RejectionCounts): RejectedCaller {
    const index = requestsByLimit.indexOf(Math.max(...requestsByLimit));
    return {
      key: caller.key,
      requests: this.#totals.requestsOf(caller),
      rejectedRequests: requests,
      worstBurst: { limit: this.#quotas[index]!.name, ...this.#bursts[index]!.of(caller) },
    };
  }
}
