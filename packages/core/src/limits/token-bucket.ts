import { type Duration, MAX_DURATION_MS, parseInterval } from '../duration.js';
import { invalidNumber, knownOptions, positiveInteger } from '../validate.js';
import { isWithinScale, type Scale, scaleOf } from './clock-skew-bound.js';
import type { Hit, Limit, Verdict } from './limit.js';
import {
  isMinDifferencePlausible,
  type MinDifferenceState,
  minDifferenceExpires,
  minDifferenceWait,
  nextMinDifference,
  parseMinDifference,
  rejectionReason,
} from './min-difference.js';
import { mulDivUp } from './mul-div.js';

/** The options of {@link tokenBucket}. */
export interface TokenBucketOptions {
  /** The tokens of the full bucket, which is the largest burst. A positive safe integer. */
  capacity: number;
  /** The tokens that refill in each `every`, a positive safe integer. */
  refill: number;
  /** How long `refill` tokens take to refill, evenly. Milliseconds, or text such as `'1s'`. */
  every: Duration;
  /**
   * The least time between two actions of a key, in milliseconds or as text such as `'3s'`.
   *
   * @defaultValue no minimum
   */
  minDifference?: Duration | undefined;
}

/**
 * The time at which the bucket is full determines how many tokens are missing. `refundedMicros` sums the times of
 * refunded tokens, because a refund moves the times of all tokens that were taken later. `newestMicros` is the latest
 * time of an action. Tokens have refilled until then, also for a refund after a clock step back.
 */
export interface TokenBucketState {
  fullMicros: number;
  /** The rest of `fullMicros` below a microsecond, in units of `1 / TokenBucket.tokens` microseconds. */
  fullParts: number;
  refundedMicros: number;
  newestMicros: number;
  /** The scale of the largest limit that has recorded since the bucket was full. */
  scale: Scale;
  minDifference: MinDifferenceState | undefined;
}

/**
 * A bucket that starts full. Each unit takes a token, and `refill` tokens refill evenly in each `every`. So an idle key
 * may burst and then continues at the refill rate. The arithmetic is exact: no fraction of a token is ever lost or
 * added.
 *
 * A refund returns the tokens that have not refilled yet. After several late refunds in reverse order, it may return
 * slightly fewer. If the settings of a key in use change, the time at which the bucket is full stays.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { tokenBucket } from '@rollgate/core';
 *
 * const limit = tokenBucket({ capacity: 20, refill: 5, every: '1s' });
 * limit.limit; // => 20
 * ```
 */
export function tokenBucket(options: TokenBucketOptions): TokenBucket {
  return new TokenBucket(options);
}

/** See {@link tokenBucket}. Immutable. */
export class TokenBucket implements Limit<TokenBucketState> {
  readonly algorithm = 'token-bucket';
  readonly limit: number;
  readonly countRejected = false;
  /** The rate in lowest terms: `tokens` refill in each `micros`. So a token takes a whole number of parts. */
  readonly tokens: number;
  readonly micros: number;
  /** How long an empty bucket takes to become full. */
  readonly windowMicros: number;
  /** 0 if the limit has no `minDifference`. */
  readonly minDifferenceMicros: number;
  readonly keepMicros: number;
  readonly scale: Scale;

  constructor(options: TokenBucketOptions) {
    knownOptions('tokenBucket', options, ['capacity', 'refill', 'every', 'minDifference']);
    this.limit = positiveInteger('capacity', options.capacity);
    const refill = positiveInteger('refill', options.refill);
    const everyMicros = parseInterval('every', options.every) * 1000;
    const divisor = greatestCommonDivisor(refill, everyMicros);
    this.tokens = refill / divisor;
    this.micros = everyMicros / divisor;
    if ((this.limit / this.tokens) * this.micros > MAX_DURATION_MS * 1000) {
      throw invalidNumber(
        'capacity',
        'a bucket that fills within 100 years at this `refill` and `every`',
        options.capacity,
      );
    }
    if (this.limit * this.tokens > Number.MAX_SAFE_INTEGER) {
      const most = Math.floor(Number.MAX_SAFE_INTEGER / this.tokens);
      throw invalidNumber('capacity', `at most ${most} with this \`refill\` and \`every\``, options.capacity);
    }
    this.windowMicros = this.#wholeMicros(this.limit) + (this.#parts(this.limit) > 0 ? 1 : 0);
    this.minDifferenceMicros = parseMinDifference(options.minDifference);
    this.keepMicros = Math.max(this.windowMicros, this.minDifferenceMicros);
    this.scale = scaleOf(this.windowMicros);
    Object.freeze(this);
  }

  create(): TokenBucketState {
    return {
      fullMicros: -Infinity,
      fullParts: 0,
      refundedMicros: 0,
      newestMicros: -Infinity,
      scale: 0,
      minDifference: undefined,
    };
  }

  expiresMicros({ fullMicros, fullParts, minDifference }: TokenBucketState): number {
    return Math.max(fullParts > 0 ? fullMicros + 1 : fullMicros, minDifferenceExpires(minDifference));
  }

  isPlausible({ fullMicros, scale, minDifference }: TokenBucketState, nowMicros: number): boolean {
    return (
      isWithinScale(fullMicros - nowMicros, scale) &&
      isMinDifferencePlausible(minDifference, this.keepMicros, nowMicros)
    );
  }

  test(state: TokenBucketState, nowMicros: number, cost: number): Verdict {
    const { fullMicros, refundedMicros, minDifference } = state;
    const parts = this.#partsOf(state);
    const untilFull = Math.max(0, fullMicros + (parts > 0 ? 1 : 0) - nowMicros);
    // A token that has refilled in part is still missing.
    const missing = untilFull === 0 ? 0 : mulDivUp(fullMicros - nowMicros, this.tokens, this.micros, parts);
    const mayBeMissing = this.limit - cost;
    const untilEnough =
      untilFull === 0
        ? 0
        : fullMicros - this.#wholeMicros(mayBeMissing) + (parts > this.#parts(mayBeMissing) ? 1 : 0) - nowMicros;
    const quotaWait = cost > this.limit ? Infinity : Math.max(0, untilEnough);
    const differenceWait = minDifferenceWait(minDifference, this.minDifferenceMicros, nowMicros);
    return {
      waitMicros: Math.max(quotaWait, differenceWait),
      reason: rejectionReason(quotaWait, differenceWait),
      delayMicros: 0,
      remaining: Math.max(0, this.limit - missing),
      resetMicros: untilFull,
      // Its tokens refill after those that were missing before.
      atMicros: Math.max(fullMicros, nowMicros) + refundedMicros,
    };
  }

  record(state: TokenBucketState, nowMicros: number, cost: number): Verdict {
    const parts = state.fullMicros < nowMicros ? 0 : this.#partsOf(state);
    const isFull = state.fullMicros < nowMicros || (state.fullMicros === nowMicros && parts === 0);
    state.scale = isFull ? this.scale : Math.max(state.scale, this.scale);
    this.#setFull(state, Math.max(state.fullMicros, nowMicros) + this.#wholeMicros(cost), parts + this.#parts(cost));
    state.newestMicros = Math.max(state.newestMicros, nowMicros);
    state.minDifference = nextMinDifference(state.minDifference, this.minDifferenceMicros, nowMicros);
    return this.test(state, nowMicros, cost);
  }

  refund(state: TokenBucketState, nowMicros: number, { atMicros, recordedMicros, cost }: Hit): void {
    // Its tokens refilled after those that were missing before, and not before they were taken.
    const latestMicros = Math.max(nowMicros, state.newestMicros);
    const sinceStartMicros = latestMicros + state.refundedMicros - atMicros;
    const refilledMicros = Math.max(0, Math.min(sinceStartMicros, latestMicros - recordedMicros));
    const micros = this.#wholeMicros(cost) - refilledMicros;
    const parts = this.#parts(cost);
    if (micros < 0) return;
    this.#setFull(state, state.fullMicros - micros, this.#partsOf(state) - parts);
    state.refundedMicros += parts > 0 ? micros + 1 : micros;
  }

  /** Sets the time at which the bucket is full. `parts` may be negative or exceed a microsecond. */
  #setFull(state: TokenBucketState, micros: number, parts: number): void {
    const carried = Math.floor(parts / this.tokens);
    state.fullMicros = micros + carried;
    state.fullParts = parts - carried * this.tokens;
  }

  /** The whole microseconds in which these tokens refill. Exact, because the constructor limits the capacity. */
  #wholeMicros(tokens: number): number {
    const rest = this.micros % this.tokens;
    return tokens * ((this.micros - rest) / this.tokens) + Math.floor((tokens * rest) / this.tokens);
  }

  /** The parts of a microsecond that the tokens take in addition. */
  #parts(tokens: number): number {
    return (tokens * (this.micros % this.tokens)) % this.tokens;
  }

  /** Another limit's parts may have another size, so they are capped. */
  #partsOf({ fullParts }: TokenBucketState): number {
    return Math.min(fullParts, this.tokens - 1);
  }
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}
