import { isTooFarAhead, scaleOf } from './clock-skew-bound.js';
import { MAX_AHEAD, MS, type Oracle } from './oracle.js';

/** Durations in milliseconds. */
export interface LeakyBucketSettings {
  readonly capacity: number;
  readonly interval: number;
}

/** The time from which the next action may start, and the scale of the largest limit in the queue. */
interface Queue {
  readonly free: number;
  readonly scale: number;
  /** Time that was refunded while later starts were taken. */
  readonly gaps: readonly Gap[];
  /** Receipts of earlier starts are void, because a refund has emptied their queue. */
  readonly voidBefore: number;
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** A queue. Actions start in order, one unit every `interval`, and `capacity` units may wait. */
export function leakyBucketOracle({ capacity, interval }: LeakyBucketSettings): Oracle {
  const apart = interval * MS;
  const ownScale = scaleOf((capacity + 1) * apart);
  const delay = ({ free }: Queue, at: number) => Math.max(free, at) - at;
  /** Units that start later than `at`. The last one starts an interval before `free`. */
  function waiting(queue: Queue, at: number): number {
    const ahead = Math.max(0, delay(queue, at) - 1);
    return (ahead - (ahead % apart)) / apart;
  }
  const oracle: Oracle<Queue, { start: number; recorded: number; cost: number }> = {
    quota: capacity,
    empty: { free: -Infinity, scale: 0, gaps: [], voidBefore: -Infinity },
    isImplausible: ({ free, scale }, now) => isTooFarAhead(free, now, scale),
    expires: ({ free }) => free,
    allows: (queue, at, cost) => delay(queue, at) + (cost - 1) * apart <= capacity * apart,
    free: (queue, at) => capacity - waiting(queue, at),
    delay,
    record({ free, scale, gaps, voidBefore }, now, cost) {
      const start = Math.max(free, now);
      const ahead = Math.min(start + cost * apart - now, MAX_AHEAD);
      const queue = {
        free: now + ahead,
        // An overdraft makes the queue longer than the limit's own scale allows.
        scale: Math.max(free > now ? scale : 0, ahead > (capacity + 1) * apart ? scaleOf(ahead) : 0, ownScale),
        // A gap that has passed is gone, even for a clock that steps back.
        gaps: withoutPassed(gaps, now),
        voidBefore,
      };
      return [queue, { start, recorded: now, cost }];
    },
    refund(queue, hit, now, kept) {
      const { recorded } = hit;
      const start = hit.start + kept * apart;
      if (start < queue.voidBefore) return queue;
      const { scale, gaps } = queue;
      let { free } = queue;
      const end = hit.start + hit.cost * apart;
      const isLast = end === free;
      if (!isLast && end <= now) return queue; // Nothing can start then.
      let left = [...gaps, { from: start, to: end }].filter(({ to }) => to <= free);
      for (let last = endingAt(left, free); last !== undefined; last = endingAt(left, free)) {
        left = left.filter((gap) => gap !== last);
        free = last.from;
      }
      const isEmpty = isLast && (start === recorded || (free < start && free <= now));
      return { free, scale, gaps: left, voidBefore: isEmpty ? free : queue.voidBefore };
    },
  };
  return oracle;
}

const endingAt = (gaps: readonly Gap[], time: number) => gaps.find(({ to }) => to === time);

/** Adjacent gaps pass together, because a store keeps them as one. */
function withoutPassed(gaps: readonly Gap[], now: number): Gap[] {
  const isAhead = ({ to }: Gap): boolean => {
    const behind = gaps.find(({ from }) => from === to);
    return to > now || (behind !== undefined && isAhead(behind));
  };
  return gaps.filter(isAhead);
}
