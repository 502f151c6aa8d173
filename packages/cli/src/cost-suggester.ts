import type { Caller, Entry } from './log/entry.js';
import { type Rejections, roundLimits, type Suggestion } from './suggestion.js';

/** The requests of one caller, in the order of their times. */
interface Requests {
  readonly caller: Caller;
  readonly micros: number[];
  readonly costs: number[];
}

interface Trial extends Rejections {
  readonly requests: number;
}

/**
 * Finds limits for requests with costs. A larger limit may reject a request that a smaller one allows, because it allowed an
 * expensive one before. So limits are tried one by one, which requires two numbers in memory for each request.
 */
export class CostSuggester {
  readonly #windowMs: number;
  readonly #windowMicros: number;
  readonly #all: Requests[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#windowMicros = windowMs * 1000;
  }

  /** Times never decrease. */
  add({ micros, caller, cost }: Entry): void {
    let requests = this.#all[caller.index];
    if (requests === undefined) {
      requests = { caller, micros: [], costs: [] };
      this.#all[caller.index] = requests;
    }
    requests.micros.push(micros);
    requests.costs.push(cost);
  }

  /** @param share The largest share of requests, and of callers, to reject: from 0 to 1. */
  result(share: number): Suggestion {
    const all = this.#all.filter((requests) => requests !== undefined);
    const demands = all.map((requests) => highestDemand(requests, this.#windowMicros));
    const demand = demands.reduce((most, each) => Math.max(most, each), 0);
    const heaviest = all[demands.indexOf(demand)]!;
    const forAll = this.#try(all, demand);
    const isWithin = ({ rejectedRequests, requests }: Trial) => rejectedRequests <= requests * share;
    const forRequests = this.#smallest(all, demand, isWithin);
    const forCallers = this.#smallest(all, demand, ({ rejectedCallers }) => rejectedCallers <= all.length * share);
    const limits = new Set([...roundLimits(demand), forRequests.limit, forCallers.limit, demand]);
    const others = all.filter((requests) => requests !== heaviest);
    const limitWithoutIt = others.length === 0 ? undefined : this.#smallest(others, demand, isWithin).limit;
    return {
      windowMs: this.#windowMs,
      ...{ forRequests, forCallers, forAll },
      curve: [...limits].sort((one, other) => one - other).map((limit) => this.#try(all, limit)),
      heaviest: { key: heaviest.caller.key, demand, limitWithoutIt },
    };
  }

  /** Bisects up to a limit that rejects nothing. */
  #smallest(all: readonly Requests[], last: number, isWithin: (trial: Trial) => boolean): Rejections {
    let [low, high] = [1, last];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (isWithin(this.#trial(all, middle))) high = middle;
      else low = middle + 1;
    }
    return this.#try(all, low);
  }

  #try(all: readonly Requests[], limit: number): Rejections {
    const { rejectedRequests, rejectedCallers } = this.#trial(all, limit);
    return { limit, rejectedRequests, rejectedCallers };
  }

  #trial(all: readonly Requests[], limit: number): Trial {
    let [requests, rejectedRequests, rejectedCallers] = [0, 0, 0];
    for (const each of all) {
      const rejected = countRejected(each, limit, this.#windowMicros);
      requests += each.micros.length;
      rejectedRequests += rejected;
      if (rejected > 0) rejectedCallers += 1;
    }
    return { limit, requests, rejectedRequests, rejectedCallers };
  }
}

function countRejected({ micros, costs }: Requests, limit: number, windowMicros: number): number {
  const allowed: number[] = [];
  let [first, used, rejected] = [0, 0, 0];
  for (let at = 0; at < micros.length; at++) {
    const expired = micros[at]! - windowMicros;
    for (; first < allowed.length && micros[allowed[first]!]! <= expired; first++) used -= costs[allowed[first]!]!;
    if (used + costs[at]! > limit) rejected += 1;
    else {
      used += costs[at]!;
      allowed.push(at);
    }
  }
  return rejected;
}

/** The most units within one window. A limit of as many rejects nothing. */
function highestDemand({ micros, costs }: Requests, windowMicros: number): number {
  let [first, used, most] = [0, 0, 0];
  for (let at = 0; at < micros.length; at++) {
    for (; micros[first]! <= micros[at]! - windowMicros; first++) used -= costs[first]!;
    used += costs[at]!;
    most = Math.max(most, used);
  }
  return most;
}
