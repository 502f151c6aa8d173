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
  /** Slots that were refunded while later ones were taken. */
  readonly abandoned: readonly Slot[];
  /** Receipts of earlier slots are void, because a refund has emptied their queue. */
  readonly voidBefore: number;
}

interface Slot {
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
    empty: { free: -Infinity, scale: 0, abandoned: [], voidBefore: -Infinity },
    isImplausible: ({ free, scale }, now) => isTooFarAhead(free, now, scale),
    expires: ({ free }) => free,
    allows: (queue, at, cost) => delay(queue, at) + (cost - 1) * apart <= capacity * apart,
    free: (queue, at) => capacity - waiting(queue, at),
    delay,
    record({ free, scale, abandoned, voidBefore }, now, cost) {
      const start = Math.max(free, now);
      const ahead = Math.min(start + cost * apart - now, MAX_AHEAD);
      const queue = {
        free: now + ahead,
        // An overdraft makes the queue longer than the limit's own scale allows.
        scale: Math.max(free > now ? scale : 0, ahead > (capacity + 1) * apart ? scaleOf(ahead) : 0, ownScale),
        // A gap that has passed is gone, even for a clock that steps back.
        abandoned: withoutPassed(abandoned, now),
        voidBefore,
      };
      return [queue, { start, recorded: now, cost }];
    },
    refund(queue, hit, now, kept) {
      const { recorded } = hit;
      const start = hit.start + kept * apart;
      if (start < queue.voidBefore) return queue;
      const { scale, abandoned } = queue;
      let { free } = queue;
      const end = hit.start + hit.cost * apart;
      const isLast = end === free;
      if (!isLast && end <= now) return queue; // Nothing can use the slot.
      let slots = [...abandoned, { from: start, to: end }].filter(({ to }) => to <= free);
      for (let last = endingAt(slots, free); last !== undefined; last = endingAt(slots, free)) {
        slots = slots.filter((slot) => slot !== last);
        free = last.from;
      }
      const isEmpty = isLast && (start === recorded || (free < start && free <= now));
      return { free, scale, abandoned: slots, voidBefore: isEmpty ? free : queue.voidBefore };
    },
  };
  return oracle;
}

const endingAt = (slots: readonly Slot[], time: number) => slots.find(({ to }) => to === time);

/** Adjacent slots pass together, because they are one gap. */
function withoutPassed(slots: readonly Slot[], now: number): Slot[] {
  const isAhead = ({ to }: Slot): boolean => {
    const behind = slots.find(({ from }) => from === to);
    return to > now || (behind !== undefined && isAhead(behind));
  };
  return slots.filter(isAhead);
}
