import { isTooFarAhead, scaleOf } from './clock-skew-bound.js';
import { MS, type Oracle } from './oracle.js';

/** Durations in milliseconds. */
export interface LeakyBucketSettings {
  readonly capacity: number;
  readonly interval: number;
}

/** The time from which the next action may leave, and the scale of the largest limit that is in the queue. */
interface Queue {
  readonly free: number;
  readonly scale: number;
  /** Slots that were refunded while later ones were taken. */
  readonly abandoned: readonly Slot[];
  /** Receipts of earlier slots are void: a refund has left nothing of the queue that they are of. */
  readonly voidBefore: number;
}

interface Slot {
  readonly from: number;
  readonly to: number;
}

/** A queue: actions leave in the order of their coming, a unit every `interval`, and `capacity` of them may wait. */
export function leakyBucketOracle({ capacity, interval }: LeakyBucketSettings): Oracle {
  const apart = interval * MS;
  const ownScale = scaleOf((capacity + 1) * apart);
  const delay = ({ free }: Queue, at: number) => Math.max(free, at) - at;
  /** Units that leave later than `at`; the one before `free` leaves an interval before it. */
  function waiting(queue: Queue, at: number): number {
    const ahead = Math.max(0, delay(queue, at) - 1);
    return (ahead - (ahead % apart)) / apart;
  }
  const oracle: Oracle<Queue, { departure: number; recorded: number; cost: number }> = {
    quota: capacity,
    empty: { free: -Infinity, scale: 0, abandoned: [], voidBefore: -Infinity },
    isImplausible: ({ free, scale }, now) => isTooFarAhead(free, now, scale),
    expires: ({ free }) => free,
    allows: (queue, at, cost) => delay(queue, at) + (cost - 1) * apart <= capacity * apart,
    free: (queue, at) => capacity - waiting(queue, at),
    delay,
    record({ free, scale, abandoned, voidBefore }, now, cost) {
      const departure = Math.max(free, now);
      const queue = {
        free: departure + cost * apart,
        scale: free > now ? Math.max(scale, ownScale) : ownScale,
        // What has passed is gone for good, also for a clock that steps back.
        abandoned: withoutPassed(abandoned, now),
        voidBefore,
      };
      return [queue, { departure, recorded: now, cost }];
    },
    refund(queue, { departure, recorded, cost }, now) {
      if (departure < queue.voidBefore) return queue;
      const { scale, abandoned } = queue;
      let { free } = queue;
      const end = departure + cost * apart;
      const isLast = end === free;
      if (!isLast && end <= now) return queue; // Nothing can use the slot.
      let slots = [...abandoned, { from: departure, to: end }].filter(({ to }) => to <= free);
      for (let last = endingAt(slots, free); last !== undefined; last = endingAt(slots, free)) {
        slots = slots.filter((slot) => slot !== last);
        free = last.from;
      }
      const isEmpty = isLast && (departure === recorded || (free < departure && free <= now));
      return { free, scale, abandoned: slots, voidBefore: isEmpty ? free : queue.voidBefore };
    },
  };
  return oracle;
}

const endingAt = (slots: readonly Slot[], time: number) => slots.find(({ to }) => to === time);

/** Slots that touch pass together: they are one gap. */
function withoutPassed(slots: readonly Slot[], now: number): Slot[] {
  const isAhead = ({ to }: Slot): boolean => {
    const behind = slots.find(({ from }) => from === to);
    return to > now || (behind !== undefined && isAhead(behind));
  };
  return slots.filter(isAhead);
}
