import { type Duration, MAX_DURATION_MS, parseInterval } from '../duration.js';
import { invalidNumber, knownOptions, positiveInteger } from '../validate.js';
import { isWithinScale, type Scale, scaleOf } from './clock-skew-bound.js';
import type { Hit, Limit, Verdict } from './limit.js';
import { addGap, dropPassedGaps, type QueueGaps, takeLastGap } from './queue-gaps.js';

/** The options of {@link leakyBucket}. */
export interface LeakyBucketOptions {
  /** The most units that may wait, a positive safe integer. The unit in the current slot does not count. */
  capacity: number;
  /** The time between two slots, in milliseconds or as text such as `'100ms'`. */
  interval: Duration;
}

/** The queue of one key. All slots before `freeMicros` are taken, except those in the gaps. */
export interface LeakyBucketState {
  freeMicros: number;
  /** Refunded slots with taken ones behind them. Absent until the first such refund. */
  gaps?: QueueGaps;
  /** Receipts of earlier slots are void, because a refund has left the queue empty. Absent until then. */
  voidBeforeMicros?: number;
  /** The scale of the largest limit that has recorded since the queue was empty. */
  scale: Scale;
}

/**
 * A FIFO queue of at most `capacity` waiting units, with one slot every `interval`. So bursts leave evenly. An allowed
 * action gets a `delayMs` until its slot. If the queue is full, it is rejected. An action of several units starts at
 * its first slot, and the next action waits for all of them.
 *
 * Slots can be refunded in any order. A refunded slot becomes free once all slots behind it are free, because the
 * actions behind it keep their slots. Otherwise it passes unused. A key keeps up to 64 separate gaps. If the settings
 * of a key in use change, the assigned slots stay taken.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { leakyBucket } from '@rollgate/core';
 *
 * const limit = leakyBucket({ capacity: 50, interval: '100ms' });
 * limit.limit; // => 50
 * ```
 */
export function leakyBucket(options: LeakyBucketOptions): LeakyBucket {
  return new LeakyBucket(options);
}

/** See {@link leakyBucket}. Immutable. */
export class LeakyBucket implements Limit<LeakyBucketState> {
  readonly algorithm = 'leaky-bucket';
  readonly limit: number;
  readonly countRejected = false;
  readonly intervalMicros: number;
  /** How long a full queue takes to become empty. */
  readonly windowMicros: number;
  readonly keepMicros: number;
  readonly scale: Scale;

  constructor(options: LeakyBucketOptions) {
    knownOptions('leakyBucket', options, ['capacity', 'interval']);
    this.limit = positiveInteger('capacity', options.capacity);
    this.intervalMicros = parseInterval('interval', options.interval) * 1000;
    this.windowMicros = this.limit * this.intervalMicros;
    this.keepMicros = this.windowMicros + this.intervalMicros;
    if (this.keepMicros > MAX_DURATION_MS * 1000) {
      throw invalidNumber('capacity', 'a queue that empties within 100 years at this `interval`', options.capacity);
    }
    this.scale = scaleOf(this.keepMicros);
    Object.freeze(this);
  }

  create(): LeakyBucketState {
    return { freeMicros: -Infinity, scale: 0 };
  }

  expiresMicros({ freeMicros }: LeakyBucketState): number {
    return freeMicros;
  }

  isPlausible({ freeMicros, scale }: LeakyBucketState, nowMicros: number): boolean {
    return isWithinScale(freeMicros - nowMicros, scale);
  }

  test({ freeMicros }: LeakyBucketState, nowMicros: number, cost: number): Verdict {
    const { limit, intervalMicros } = this;
    const delayMicros = Math.max(0, freeMicros - nowMicros);
    const waiting = Math.max(0, Math.ceil(delayMicros / intervalMicros) - 1);
    return {
      waitMicros: cost > limit ? Infinity : Math.max(0, delayMicros - (limit + 1 - cost) * intervalMicros),
      reason: 'limit',
      delayMicros,
      remaining: Math.max(0, limit - waiting),
      resetMicros: Math.max(0, delayMicros - intervalMicros),
      atMicros: nowMicros + delayMicros,
    };
  }

  record(state: LeakyBucketState, nowMicros: number, cost: number, { atMicros, delayMicros }: Verdict): Verdict {
    state.scale = delayMicros > 0 ? Math.max(state.scale, this.scale) : this.scale;
    state.freeMicros = atMicros + cost * this.intervalMicros;
    if (state.gaps !== undefined) dropPassedGaps(state.gaps, nowMicros);
    return { ...this.test(state, nowMicros, cost), delayMicros };
  }

  refund(state: LeakyBucketState, nowMicros: number, { atMicros, recordedMicros, cost }: Hit): void {
    if (state.voidBeforeMicros !== undefined && atMicros < state.voidBeforeMicros) return;
    const endMicros = atMicros + cost * this.intervalMicros;
    if (endMicros < state.freeMicros) {
      if (endMicros <= nowMicros) return; // Nothing can use the slot.
      state.gaps ??= [];
      addGap(state.gaps, atMicros, endMicros);
    } else if (endMicros === state.freeMicros) {
      state.freeMicros = takeLastGap(state.gaps ?? [], atMicros) ?? atMicros;
      const isEmpty = state.freeMicros < atMicros && state.freeMicros <= nowMicros;
      if (isEmpty || atMicros === recordedMicros) state.voidBeforeMicros = state.freeMicros;
    }
  }
}
