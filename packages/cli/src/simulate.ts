import type { Limit } from '@rollgate/core';
import { type Burst, Bursts } from './bursts.js';
import { type Algorithm, makeLimit, type NamedQuota } from './limits.js';
import type { Caller, Entry } from './log/entry.js';
import { Replay, ReplayClock } from './replay.js';
import { type Timeline, TimelineCounter } from './timeline.js';
import { Totals } from './totals.js';

/** A caller that was refused. */
export interface HitCaller {
  readonly key: string;
  readonly requests: number;
  readonly refusedRequests: number;
  /** For the limit that refused it most often. */
  readonly worstBurst: Burst & { readonly limit: string };
}

export interface Simulation {
  readonly requests: number;
  readonly units: number;
  readonly callers: number;
  readonly refusedRequests: number;
  readonly refusedUnits: number;
  readonly refusedCallers: number;
  /** By the names of the limits: how many requests each of them refused, alone or with others. */
  readonly refusedByLimit: Readonly<Record<string, number>>;
  /** Those with the most refused requests, in that order. */
  readonly worstHit: readonly HitCaller[];
  readonly firstMicros: number;
  readonly lastMicros: number;
  readonly timeline: Timeline<'requests' | 'refused'>;
}

/** What is kept of a caller that was refused at least once. */
interface Refused {
  readonly caller: Caller;
  requests: number;
  /** By the limits' places. */
  readonly byLimit: number[];
}

const REQUESTS = 0;
const REFUSED = 1;

/** Replays entries, whose times never decrease, through Rollgate, and notes whom it refuses. */
export class Simulator {
  readonly #quotas: readonly NamedQuota[];
  readonly #clock = new ReplayClock();
  readonly #replay: Replay;
  readonly #bursts: readonly Bursts[];
  readonly #timeline = new TimelineCounter<'requests' | 'refused'>(['requests', 'refused']);
  readonly #totals = new Totals();
  readonly #refused = new Map<Caller, Refused>();
  #units = 0;
  #refusedRequests = 0;
  #refusedUnits = 0;

  constructor(algorithm: Algorithm, quotas: readonly NamedQuota[]) {
    const limits: Record<string, Limit> = {};
    for (const quota of quotas) limits[quota.name] = makeLimit(algorithm, quota);
    this.#quotas = quotas;
    this.#replay = new Replay(limits, this.#clock);
    this.#bursts = quotas.map((quota) => new Bursts(algorithm, quota, this.#clock));
  }

  add(entry: Entry): void {
    const { micros, caller, cost } = entry;
    this.#clock.micros = micros;
    this.#totals.add(entry);
    this.#units += cost;
    const place = this.#timeline.at(micros);
    this.#timeline.count(REQUESTS, place);
    const decision = this.#replay.decide(caller.key, cost);
    const { allowed } = decision;
    const wasRefused = this.#refused.has(caller);
    for (const bursts of this.#bursts) bursts.add(entry, decision, wasRefused);
    if (allowed) return;
    this.#timeline.count(REFUSED, place);
    this.#noteRefusal(entry, decision.violated);
  }

  /** @param top How many of the worst-hit callers to tell. */
  result(top: number): Simulation {
    const hits = [...this.#refused.values()].sort((one, other) => other.requests - one.requests).slice(0, top);
    const { requests, callers, firstMicros, lastMicros } = this.#totals;
    return {
      requests,
      callers,
      firstMicros,
      lastMicros,
      units: this.#units,
      refusedRequests: this.#refusedRequests,
      refusedUnits: this.#refusedUnits,
      refusedCallers: this.#refused.size,
      refusedByLimit: Object.fromEntries(this.#quotas.map(({ name }, place) => [name, this.#refusedBy(place)])),
      worstHit: hits.map((hit) => this.#toHitCaller(hit)),
      timeline: this.#timeline.result(),
    };
  }

  #noteRefusal({ caller, cost }: Entry, violated: readonly string[]): void {
    this.#refusedRequests += 1;
    this.#refusedUnits += cost;
    let refused = this.#refused.get(caller);
    if (refused === undefined) {
      refused = { caller, requests: 0, byLimit: this.#quotas.map(() => 0) };
      this.#refused.set(caller, refused);
    }
    refused.requests += 1;
    for (const [place, { name }] of this.#quotas.entries()) if (violated.includes(name)) refused.byLimit[place]! += 1;
  }

  #refusedBy(place: number): number {
    let sum = 0;
    for (const { byLimit } of this.#refused.values()) sum += byLimit[place]!;
    return sum;
  }

  #toHitCaller({ caller, requests, byLimit }: Refused): HitCaller {
    const place = byLimit.indexOf(Math.max(...byLimit));
    return {
      key: caller.key,
      requests: this.#totals.requestsOf(caller),
      refusedRequests: requests,
      worstBurst: { limit: this.#quotas[place]!.name, ...this.#bursts[place]!.of(caller) },
    };
  }
}
