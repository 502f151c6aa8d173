import { PeriodEnds, type Span } from './calendar-span.js';
import { LaneCounts } from './lane-counts.js';
import type { Caller, Entry } from './log/entry.js';
import { type Rejections, roundLimits, type Suggestion } from './suggestion.js';
import { Lanes, PeriodLanes } from './window-lanes.js';

/**
 * Finds in one pass what every limit of a rolling or a calendar window would reject, for requests that cost 1.
 *
 * Each caller has a row of lanes. A request takes the first free lane for exactly one window. What happens in the first
 * `limit` lanes does not depend on the lanes behind them. So a request gets one of these lanes exactly if that limit allows
 * it, and all limits below its lane number would reject it. In the period of a calendar, all lanes become free at its end.
 */
export class Suggester {
  readonly #span: Span;
  readonly #periodLanes: PeriodLanes | undefined;
  readonly #windowMicros: number;
  /** By the caller's index. Idle callers have no entry. */
  readonly #lanes: (Lanes | undefined)[] = [];
  #inUse: Lanes[] = [];
  #nextSweepMicros = Number.NEGATIVE_INFINITY;
  readonly #counts = new LaneCounts();

  constructor(span: Span) {
    this.#span = span;
    this.#windowMicros = span.windowMs * 1000;
    if (span.periods !== undefined) this.#periodLanes = new PeriodLanes(new PeriodEnds(span.periods));
  }

  /** Times never decrease. */
  add({ micros, caller }: Pick<Entry, 'micros' | 'caller'>): void {
    const { index } = caller;
    if (this.#periodLanes !== undefined) {
      this.#counts.add(caller, this.#periodLanes.take(index, micros));
      return;
    }
    if (micros >= this.#nextSweepMicros) this.#sweep(micros);
    let lanes = this.#lanes[index];
    if (lanes === undefined) {
      lanes = new Lanes(index);
      this.#lanes[index] = lanes;
      this.#inUse.push(lanes);
    }
    this.#counts.add(caller, lanes.take(micros, micros - this.#windowMicros));
  }

  /**
   * @param share The largest share of requests, and of callers, to reject: from 0 to 1.
   * @param requestsOf Returns the number of requests of a caller.
   */
  result(share: number, requestsOf: (caller: Caller) => number): Suggestion {
    const rejectedRequests = sumsBeyond(this.#counts.requestsAt());
    const rejectedCallers = sumsBeyond(this.#counts.callersAt());
    const last = rejectedRequests.length - 1;
    const at = (limit: number): Rejections => ({
      limit,
      rejectedRequests: rejectedRequests[limit]!,
      rejectedCallers: rejectedCallers[limit]!,
    });
    const forRequests = at(firstWithin(rejectedRequests, share));
    const forCallers = at(firstWithin(rejectedCallers, share));
    const limits = new Set([...roundLimits(last), forRequests.limit, forCallers.limit, last]);
    const curve = [...limits].sort((one, other) => one - other).map(at);
    const { heaviest } = this.#counts;
    const limit = this.#limitWithout(heaviest, share, requestsOf);
    return {
      ...{ span: this.#span, forRequests, forCallers, forAll: at(last), curve },
      heaviest: { key: heaviest.key, demand: last, withoutIt: limit === undefined ? undefined : at(limit) },
    };
  }

  #limitWithout(heaviest: Caller, share: number, requestsOf: (caller: Caller) => number): number | undefined {
    const others = this.#counts.requestsWithoutHeaviest(requestsOf(heaviest));
    const rejected = others === undefined ? [] : sumsBeyond(others);
    return (rejected[0] ?? 0) > 0 ? firstWithin(rejected, share) : undefined;
  }

  /** Drops idle callers once per window, so that memory is proportional to the active ones. */
  #sweep(micros: number): void {
    this.#nextSweepMicros = micros + this.#windowMicros;
    this.#inUse = this.#inUse.filter((lanes) => {
      const isInUse = lanes.newestMicros > micros - this.#windowMicros;
      if (!isInUse) this.#lanes[lanes.owner] = undefined;
      return isInUse;
    });
  }
}

/** For each lane, the sum of the counts behind it. */
function sumsBeyond(counts: readonly number[]): number[] {
  const sums = new Array<number>(counts.length).fill(0);
  for (let lane = counts.length - 2; lane >= 0; lane--) sums[lane] = sums[lane + 1]! + counts[lane + 1]!;
  return sums;
}

/** The smallest limit, at least 1, that rejects at most this share. A limit of 0 would reject everything. */
function firstWithin(rejected: readonly number[], share: number): number {
  const most = rejected[0]! * share;
  return rejected.findIndex((count, limit) => limit > 0 && count <= most);
}
