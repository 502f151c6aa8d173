import { StartOrder } from '../time/start-order.js';
import { type Duration, MAX_DURATION_MS, parseInterval } from '../validation/duration.js';
import { invalidNumber, validateOptionNames, validateQuota } from '../validation/validate.js';
import { boundDebt, isWithinScale, type Scale, scaleOf } from './clock-skew-bound.js';
import { type BlockForOption, parseBlockFor } from './key-block.js';
import { type Hit, isConstant, type Limit, type Mode, records, type State, type Verdict } from './limit.js';
import * as gaps from './queue-gaps.js';

/** The options of {@link leakyBucket}. */
export interface LeakyBucketOptions extends BlockForOption {
  /**
   * The most units that may wait: a positive safe integer, 0 to reject everything, or `Infinity` to limit nothing. A unit that starts at once does not count.
   */
  capacity: number;
  /** The time between two starts, in milliseconds or as text such as `'100ms'`. */
  interval: Duration;
}

// The numbers of the state. Those of queue-gaps.ts follow.
/** All starts before this time are taken, except those in the gaps. `-Infinity` before the first action. */
const FREE = 0;
/** Receipts of earlier starts are void, because a refund has left the queue empty. */
const VOID_BEFORE = 1;
/** The scale of the largest limit that has recorded since the queue was empty. */
const SCALE = 2;

/** `VOID_BEFORE` until a refund leaves the queue empty. Finite, because stores may write numbers as JSON. */
const NO_RECEIPT = Number.MIN_SAFE_INTEGER;

/**
 * A FIFO queue of at most `capacity` waiting units, with a start every `interval`. So bursts leave evenly. An allowed
 * action gets a `delayMs` until its start. If the queue is full, it is rejected. An action of several units takes as many
 * starts. It begins at the first one, and the next action waits for all of them.
 *
 * Starts can be refunded in any order. A refunded start becomes free once all starts behind it are free, because the
 * actions behind it keep theirs. Otherwise it passes unused. A key keeps up to 64 separate gaps. If the settings of a key
 * in use change, the assigned starts stay taken.
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
export class LeakyBucket implements Limit {
  readonly algorithm = 'leaky-bucket';
  readonly limit: number;
  readonly countRejected = false;
  /** The time between two starts, in microseconds. */
  readonly intervalMicros: number;
  /** How long a full queue takes to become empty. */
  readonly windowMicros: number;
  readonly keepMicros: number;
  readonly stateSize = gaps.END;
  readonly blockFor: Limit | undefined;
  /** How far ahead of its clock the limit may write. */
  readonly scale: Scale;

  constructor(options: LeakyBucketOptions) {
    validateOptionNames('leakyBucket', options, ['capacity', 'interval', 'blockFor']);
    this.limit = validateQuota('capacity', options.capacity);
    this.intervalMicros = parseInterval('interval', options.interval) * 1000;
    // A limit without a state has the window of one unit.
    this.windowMicros = (isConstant(this) ? 1 : this.limit) * this.intervalMicros;
    this.keepMicros = this.windowMicros + this.intervalMicros;
    if (this.keepMicros > MAX_DURATION_MS * 1000) {
      throw invalidNumber('capacity', 'a queue that empties within 100 years at this `interval`', options.capacity);
    }
    this.scale = scaleOf(this.keepMicros);
    this.blockFor = parseBlockFor(options.blockFor);
    Object.freeze(this);
  }

  create(state: State): void {
    const { numbers, start } = state;
    numbers[start + FREE] = -Infinity;
    numbers[start + VOID_BEFORE] = NO_RECEIPT;
    numbers[start + SCALE] = 0;
    gaps.create(state);
  }

  expiresMicros({ numbers, start }: State): number {
    return numbers[start + FREE]!;
  }

  isPlausible({ numbers, start }: State, nowMicros: number): boolean {
    return isWithinScale(numbers[start + FREE]! - nowMicros, numbers[start + SCALE]!);
  }

  isIntact(state: State): boolean {
    return gaps.areIntact(state);
  }

  describe(state: State): unknown {
    const [freeMicros, voidBeforeMicros, scale] = state.numbers.subarray(state.start);
    const voidBefore = voidBeforeMicros === NO_RECEIPT ? {} : { voidBeforeMicros };
    return { freeMicros, scale, ...voidBefore, gaps: gaps.describe(state) };
  }

  apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const { limit, intervalMicros } = this;
    const { numbers, start } = state;
    let busyMicros = Math.max(0, numbers[start + FREE]! - nowMicros);
    verdict.waitMicros = cost > limit ? Infinity : Math.max(0, busyMicros - (limit + 1 - cost) * intervalMicros);
    verdict.reason = 'limit';
    verdict.delayMicros = busyMicros;
    verdict.atMicros = nowMicros + busyMicros;
    if (records(mode, verdict.waitMicros)) {
      numbers[start + SCALE] = busyMicros > 0 ? Math.max(numbers[start + SCALE]!, this.scale) : this.scale;
      numbers[start + FREE] = verdict.atMicros + cost * intervalMicros;
      if (numbers[start + FREE]! - nowMicros > this.keepMicros) boundDebt(state, FREE, SCALE, nowMicros);
      gaps.dropPassed(state, nowMicros);
      busyMicros = numbers[start + FREE]! - nowMicros;
    }
    const waiting = Math.max(0, Math.ceil(busyMicros / intervalMicros) - 1);
    verdict.remaining = Math.max(0, limit - waiting);
    verdict.resetMicros = Math.max(0, busyMicros - intervalMicros);
    verdict.nextUnitMicros = waiting === 0 ? 0 : busyMicros - Math.min(waiting, limit) * intervalMicros;
    verdict.expiresMicros = numbers[start + FREE]!;
  }

  refund(state: State, nowMicros: number, hit: Hit, kept: number): void {
    const { numbers, start } = state;
    const { recordedMicros } = hit;
    const atMicros = hit.atMicros + kept * this.intervalMicros;
    if (atMicros < numbers[start + VOID_BEFORE]!) return;
    const freeMicros = numbers[start + FREE]!;
    const endMicros = hit.atMicros + hit.cost * this.intervalMicros;
    if (endMicros < freeMicros) {
      if (endMicros <= nowMicros) return; // Nothing can start then.
      gaps.add(state, atMicros, endMicros);
    } else if (endMicros === freeMicros) {
      const newFreeMicros = gaps.takeLast(state, atMicros) ?? atMicros;
      numbers[start + FREE] = newFreeMicros;
      const isEmpty = newFreeMicros < atMicros && newFreeMicros <= nowMicros;
      if (isEmpty || atMicros === recordedMicros) numbers[start + VOID_BEFORE] = newFreeMicros;
    }
  }

  orderStarts(backend: object, queues: readonly string[]): StartOrder {
    return new StartOrder(backend, queues);
  }
}
