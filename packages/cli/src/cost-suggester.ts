import { PeriodEnds, type Span } from './calendar-span.js';
import type { Caller, Entry } from './log/entry.js';
import { type Rejections, roundLimits, type Suggestion } from './suggestion.js';

/** The requests of one caller, in the order of their times. */
interface Requests {
  readonly caller: Caller;
  /** When each request counts no more. */
  readonly ends: number[];
  readonly micros: number[];
  readonly costs: number[];
}

interface Trial extends Rejections {
  readonly requests: number;
}

/**
 * Finds limits for requests with costs. A larger limit may reject a request that a smaller one allows, because it allowed an
 * expensive one before. So limits are tried one by one, which requires three numbers in memory for each request.
 */
export class CostSuggester {
  readonly #span: Span;
  readonly #periodEnds: PeriodEnds | undefined;
  readonly #all: Requests[] = [];

  constructor(span: Span) {
    this.#span = span;
    this.#periodEnds = span.periods && new PeriodEnds(span.periods);
  }

  /** Times never decrease. */
  add({ micros, caller, cost }: Entry): void {
    let requests = this.#all[caller.index];
    if (requests === undefined) {
      requests = { caller, ends: [], micros: [], costs: [] };
      this.#all[caller.index] = requests;
    }
    requests.ends.push(this.#periodEnds?.at(micros) ?? micros + this.#span.windowMs * 1000);
    requests.micros.push(micros);
    requests.costs.push(cost);
  }

  /** @param share The largest share of requests, and of callers, to reject: from 0 to 1. */
  result(share: number): Suggestion {
    const all = this.#all.filter((requests) => requests !== undefined);
    const demands = all.map((requests) => highestDemand(requests));
    const demand = demands.reduce((most, each) => Math.max(most, each), 0);
    const heaviest = all[demands.indexOf(demand)]!;
    const forAll = this.#try(all, demand);
    const isWithin = ({ rejectedRequests, requests }: Trial) => rejectedRequests <= requests * share;
    const forRequests = this.#smallest(all, demand, isWithin);
    const forCallers = this.#smallest(all, demand, ({ rejectedCallers }) => rejectedCallers <= all.length * share);
    const limits = new Set([...roundLimits(demand), forRequests.limit, forCallers.limit, demand]);
    const others = all.filter((requests) => requests !== heaviest);
    const limit = others.length === 0 ? undefined : this.#smallest(others, demand, isWithin).limit;
    const withoutIt = limit === undefined ? undefined : this.#try(all, limit);
    return {
      span: this.#span,
      ...{ forRequests, forCallers, forAll },
      curve: [...limits].sort((one, other) => one - other).map((limit) => this.#try(all, limit)),
      heaviest: { key: heaviest.caller.key, demand, withoutIt },
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
      const rejected = countRejected(each, limit);
      requests += each.micros.length;
      rejectedRequests += rejected;
      if (rejected > 0) rejectedCallers += 1;
    }
    return { limit, requests, rejectedRequests, rejectedCallers };
  }
}

function countRejected({ ends, micros, costs }: Requests, limit: number): number {
  const allowed: number[] = [];
  let [first, used, rejected] = [0, 0, 0];
  for (let at = 0; at < micros.length; at++) {
    for (; first < allowed.length && ends[allowed[first]!]! <= micros[at]!; first++) used -= costs[allowed[first]!]!;
    if (used + costs[at]! > limit) rejected += 1;
    else {
      used += costs[at]!;
      allowed.push(at);
    }
  }
  return rejected;
}

/** The most units within one window or period. A limit of as many rejects nothing. */
function highestDemand({ ends, micros, costs }: Requests): number {
  let [first, used, most] = [0, 0, 0];
  for (let at = 0; at < micros.length; at++) {
    for (; ends[first]! <= micros[at]!; first++) used -= costs[first]!;
    used += costs[at]!;
    most = Math.max(most, used);
  }
  return most;
}
