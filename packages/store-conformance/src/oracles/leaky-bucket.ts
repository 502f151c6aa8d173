import { isTooFarAhead, scaleOf } from './clock-skew-bound.js';
import { MAX_AHEAD_MICROS, MS, type Oracle } from './oracle.js';

/** Durations in milliseconds. */
export interface LeakyBucketSettings {
  readonly capacity: number;
  readonly interval: number;
}

/** The time from which the next action may start, and the scale of the largest limit in the queue. */
interface Queue {
  readonly nextStart: number;
  readonly scale: number;
  /** Starts that were refunded while later actions were queued. */
  readonly gaps: readonly Gap[];
  /** Receipts of earlier starts have no effect, because a refund has emptied their queue. */
  readonly voidBefore: number;
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** A queue: actions start in order, one unit every `interval`, and `capacity` units may wait. */
export function leakyBucketOracle({ capacity, interval }: LeakyBucketSettings): Oracle {
  const intervalMicros = interval * MS;
  const ownScale = scaleOf((capacity + 1) * intervalMicros);
  const delay = ({ nextStart }: Queue, at: number) => Math.max(nextStart, at) - at;
  /** Units that start later than `at`. The last one starts an interval before `nextStart`. */
  function waitingUnits(queue: Queue, at: number): number {
    const ahead = Math.max(0, delay(queue, at) - 1);
    return (ahead - (ahead % intervalMicros)) / intervalMicros;
  }
  const oracle: Oracle<Queue, { start: number; recorded: number; cost: number }> = {
    quota: capacity,
    empty: { nextStart: -Infinity, scale: 0, gaps: [], voidBefore: -Infinity },
    isImplausible: ({ nextStart, scale }, now) => isTooFarAhead(nextStart, now, scale),
    expires: ({ nextStart }) => nextStart,
    allows: (queue, at, cost) => delay(queue, at) + (cost - 1) * intervalMicros <= capacity * intervalMicros,
    free: (queue, at) => capacity - waitingUnits(queue, at),
    delay,
    record({ nextStart, scale, gaps, voidBefore }, now, cost) {
      const start = Math.max(nextStart, now);
      const ahead = Math.min(start + cost * intervalMicros - now, MAX_AHEAD_MICROS);
      const queue = {
        nextStart: now + ahead,
        // An overdraft makes the queue longer than the limit's own scale allows.
        scale: Math.max(
          nextStart > now ? scale : 0,
          ahead > (capacity + 1) * intervalMicros ? scaleOf(ahead) : 0,
          ownScale,
        ),
        // A gap that has passed is dropped for good, even if the clock steps back.
        gaps: withoutPassedGaps(gaps, now),
        voidBefore,
      };
      return [queue, { start, recorded: now, cost }];
    },
    refund(queue, hit, now, kept) {
      const { recorded } = hit;
      const start = hit.start + kept * intervalMicros;
      if (start < queue.voidBefore) return queue;
      const { scale } = queue;
      let { nextStart } = queue;
      const end = hit.start + hit.cost * intervalMicros;
      const isLast = end === nextStart;
      if (!isLast && end <= now) return queue; // No action can use the gap.
      let gaps = [...queue.gaps, { from: start, to: end }].filter(({ to }) => to <= nextStart);
      for (let last = gapEndingAt(gaps, nextStart); last !== undefined; last = gapEndingAt(gaps, nextStart)) {
        gaps = gaps.filter((gap) => gap !== last);
        nextStart = last.from;
      }
      const isEmpty = isLast && (start === recorded || (nextStart < start && nextStart <= now));
      return { nextStart, scale, gaps, voidBefore: isEmpty ? nextStart : queue.voidBefore };
    },
  };
  return oracle;
}

const gapEndingAt = (gaps: readonly Gap[], time: number) => gaps.find(({ to }) => to === time);

/** Returns the gaps that have not passed. Adjacent ones are one gap, so they pass together. */
function withoutPassedGaps(gaps: readonly Gap[], now: number): Gap[] {
  const isAhead = ({ to }: Gap): boolean => {
    const behind = gaps.find(({ from }) => from === to);
    return to > now || (behind !== undefined && isAhead(behind));
  };
  return gaps.filter(isAhead);
}
