import { Slots } from './caller-slots.js';
import type { Entry } from './log/entry.js';

/** The number of requests and callers that a limit would reject. */
export interface Rejections {
  readonly limit: number;
  readonly rejectedRequests: number;
  readonly rejectedCallers: number;
}

/** The suggested limits for one window. */
export interface Suggestion {
  readonly windowMs: number;
  /** The smallest limit that rejects at most the given share of the requests. */
  readonly forRequests: Rejections;
  /** The smallest limit that affects at most the given share of the callers. */
  readonly forCallers: Rejections;
  /** The smallest limit that rejects nothing. */
  readonly forAll: Rejections;
  /** The limits above and some in between, ascending. */
  readonly curve: readonly Rejections[];
}

/**
 * Finds in one pass what every limit of a rolling window would reject, for requests that cost 1.
 *
 * Each caller has a row of slots. A request takes the first free slot for exactly one window. What happens in the first
 * `limit` slots does not depend on the slots behind them. So a request gets one of these slots exactly if that limit allows
 * it, and all limits below its slot number would reject it.
 */
export class Suggester {
  readonly #windowMs: number;
  readonly #windowMicros: number;
  /** By the caller's index. Idle callers have no entry. */
  readonly #slots: (Slots | undefined)[] = [];
  #inUse: Slots[] = [];
  #nextSweepMicros = Number.NEGATIVE_INFINITY;
  /** How many requests took each slot, the first at index 1. */
  readonly #requestsAt: number[] = [];
  /** The highest slot of each caller. */
  readonly #highestSlots: number[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#windowMicros = windowMs * 1000;
  }

  /** Times never decrease. */
  add({ micros, caller: { index } }: Entry): void {
    if (micros >= this.#nextSweepMicros) this.#sweep(micros);
    let slots = this.#slots[index];
    if (slots === undefined) {
      slots = new Slots(index);
      this.#slots[index] = slots;
      this.#inUse.push(slots);
    }
    const slot = slots.take(micros, micros - this.#windowMicros);
    while (this.#requestsAt.length <= slot) this.#requestsAt.push(0);
    this.#requestsAt[slot]! += 1;
    if (slot > (this.#highestSlots[index] ?? 0)) this.#highestSlots[index] = slot;
  }

  /** @param share The largest share of requests, and of callers, to reject: from 0 to 1. */
  result(share: number): Suggestion {
    const last = this.#requestsAt.length - 1;
    const callersAt = new Array<number>(last + 1).fill(0);
    for (const slot of this.#highestSlots) if (slot !== undefined) callersAt[slot]! += 1;
    const rejectedRequests = sumsBeyond(this.#requestsAt);
    const rejectedCallers = sumsBeyond(callersAt);
    const at = (limit: number): Rejections => ({
      limit,
      rejectedRequests: rejectedRequests[limit]!,
      rejectedCallers: rejectedCallers[limit]!,
    });
    const forRequests = at(firstWithin(rejectedRequests, share));
    const forCallers = at(firstWithin(rejectedCallers, share));
    const limits = new Set([...roundLimits(last), forRequests.limit, forCallers.limit, last]);
    const curve = [...limits].sort((one, other) => one - other).map(at);
    return { windowMs: this.#windowMs, forRequests, forCallers, forAll: at(last), curve };
  }

  /** Drops idle callers once per window, so that memory is proportional to the active ones. */
  #sweep(micros: number): void {
    this.#nextSweepMicros = micros + this.#windowMicros;
    this.#inUse = this.#inUse.filter((slots) => {
      const isInUse = slots.newestMicros > micros - this.#windowMicros;
      if (!isInUse) this.#slots[slots.owner] = undefined;
      return isInUse;
    });
  }
}

/** For each slot, the sum of the counts behind it. */
function sumsBeyond(counts: readonly number[]): number[] {
  const sums = new Array<number>(counts.length).fill(0);
  for (let slot = counts.length - 2; slot >= 0; slot--) sums[slot] = sums[slot + 1]! + counts[slot + 1]!;
  return sums;
}

/** The smallest limit, at least 1, that rejects at most this share. A limit of 0 would reject everything. */
function firstWithin(rejected: readonly number[], share: number): number {
  const most = rejected[0]! * share;
  return rejected.findIndex((count, limit) => limit > 0 && count <= most);
}

/** Returns 1, 2, 5, 10, 20, 50 and so on, up to the last limit that rejects anything. */
function roundLimits(last: number): number[] {
  const limits: number[] = [];
  for (let power = 1; power < last; power *= 10) limits.push(power, 2 * power, 5 * power);
  return limits.filter((limit) => limit < last);
}
