import type { Entry } from './log/entry.js';
import { Places } from './places.js';

/** What a limit would refuse. */
export interface Refusals {
  readonly limit: number;
  readonly refusedRequests: number;
  readonly refusedCallers: number;
}

/** The answer for one window. */
export interface Suggestion {
  readonly windowMs: number;
  /** The smallest limit that refuses at most the share of the requests. */
  readonly forRequests: Refusals;
  /** The smallest limit that refuses at most the share of the callers any request. */
  readonly forCallers: Refusals;
  /** The smallest limit that refuses nothing. */
  readonly forAll: Refusals;
  /** Some limits in between, and those above; ascending. */
  readonly curve: readonly Refusals[];
}

/**
 * What every limit of a rolling window would refuse, in one pass, for requests that cost 1.
 *
 * Think of a row of places for each caller. A request takes the first that is free, for exactly one window. What the first
 * `limit` places do has nothing to do with how many there are behind them: so a request gets one of them exactly if that
 * limit lets it through, and its place says under which limits it would be refused.
 */
export class Suggester {
  readonly #windowMs: number;
  readonly #windowMicros: number;
  /** By the callers' places among all; what is idle is given up. */
  readonly #places: (Places | undefined)[] = [];
  #inUse: Places[] = [];
  #nextSweepMicros = Number.NEGATIVE_INFINITY;
  /** How many requests took each place, the first at 1. */
  readonly #requestsAt: number[] = [];
  /** The farthest place of each caller. */
  readonly #farthest: number[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#windowMicros = windowMs * 1000;
  }

  /** Times never decrease. */
  add({ micros, caller: { index } }: Entry): void {
    if (micros >= this.#nextSweepMicros) this.#sweep(micros);
    let places = this.#places[index];
    if (places === undefined) {
      places = new Places(index);
      this.#places[index] = places;
      this.#inUse.push(places);
    }
    const place = places.take(micros, micros - this.#windowMicros);
    while (this.#requestsAt.length <= place) this.#requestsAt.push(0);
    this.#requestsAt[place]! += 1;
    if (place > (this.#farthest[index] ?? 0)) this.#farthest[index] = place;
  }

  /** @param share Of the requests, and of the callers, that may be refused: from 0 to 1. */
  result(share: number): Suggestion {
    const last = this.#requestsAt.length - 1;
    const callersAt = new Array<number>(last + 1).fill(0);
    for (const place of this.#farthest) if (place !== undefined) callersAt[place]! += 1;
    const refusedRequests = sumsBeyond(this.#requestsAt);
    const refusedCallers = sumsBeyond(callersAt);
    const at = (limit: number): Refusals => ({
      limit,
      refusedRequests: refusedRequests[limit]!,
      refusedCallers: refusedCallers[limit]!,
    });
    const forRequests = at(firstWithin(refusedRequests, share));
    const forCallers = at(firstWithin(refusedCallers, share));
    const told = new Set([...roundLimits(last), forRequests.limit, forCallers.limit, last]);
    const curve = [...told].sort((one, other) => one - other).map(at);
    return { windowMs: this.#windowMs, forRequests, forCallers, forAll: at(last), curve };
  }

  /** Once in a window, so that memory follows those who are in it. */
  #sweep(micros: number): void {
    this.#nextSweepMicros = micros + this.#windowMicros;
    this.#inUse = this.#inUse.filter((places) => {
      const isInUse = places.newestMicros > micros - this.#windowMicros;
      if (!isInUse) this.#places[places.owner] = undefined;
      return isInUse;
    });
  }
}

/** For each place, the sum of the counts behind it. */
function sumsBeyond(counts: readonly number[]): number[] {
  const sums = new Array<number>(counts.length).fill(0);
  for (let place = counts.length - 2; place >= 0; place--) sums[place] = sums[place + 1]! + counts[place + 1]!;
  return sums;
}

/** The smallest limit, 1 at least, that refuses at most this share of all, which a limit of 0 would refuse. */
function firstWithin(refused: readonly number[], share: number): number {
  const most = refused[0]! * share;
  return refused.findIndex((count, limit) => limit > 0 && count <= most);
}

/** 1, 2, 5, 10, 20, 50 and so on, as far as they refuse anything. */
function roundLimits(last: number): number[] {
  const limits: number[] = [];
  for (let power = 1; power < last; power *= 10) limits.push(power, 2 * power, 5 * power);
  return limits.filter((limit) => limit < last);
}
