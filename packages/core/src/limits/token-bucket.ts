import { type Duration, MAX_DURATION_MS, parseInterval } from '../duration.js';
import { invalidNumber, knownOptions, positiveInteger } from '../validate.js';
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
import { isWithinScale, type Scale, scaleOf } from './time-scale.js';

/** The numbers of a {@link tokenBucket}. */
export interface TokenBucketOptions {
  /** Tokens that the full bucket holds, and so the largest burst; a positive safe integer. */
  capacity: number;
  /** Tokens that come back in each `every`; a positive safe integer. */
  refill: number;
  /** How long it takes for `refill` tokens to come back, evenly; milliseconds or text such as `'1s'`. */
  every: Duration;
  /** Time that must pass between two actions of a key; milliseconds or text. Without it, none need pass. */
  minDifference?: Duration | undefined;
}

/**
 * When the bucket is full again says how many tokens are missing. The times of tokens that were given back are noted apart,
 * for they move all that was taken later.
 */
export interface TokenBucketState {
  fullMicros: number;
  /** What `fullMicros` leaves out, in parts of a microsecond: as many as there are in `TokenBucket.tokens`. */
  fullParts: number;
  refundedMicros: number;
  /** Of the greatest limit that has recorded since it was full. */
  scale: Scale;
  minDifference: MinDifferenceState | undefined;
}

/**
 * A bucket that starts full, gives a token for each unit, and gets `refill` tokens back in each `every`, evenly. So a key
 * that was idle may burst, and goes on at the rate of the refill. Exact: at no time is a fraction of a token lost or won.
 *
 * A refund gives back what has not come back by itself yet; of several that are given back late, the newest first, a little
 * less. Other numbers on a key that is in use: the time at which it is full again stays.
 *
 * @throws TypeError, RangeError naming the option that is wrong.
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
  /** The rate in lowest terms: `tokens` come back in each `micros`. A token so takes a whole number of parts. */
  readonly tokens: number;
  readonly micros: number;
  /** What an empty bucket takes to be full. */
  readonly windowMicros: number;
  /** 0 when none was asked for. */
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
      throw invalidNumber('capacity', 'refilled within 100 years by `refill` and `every`', options.capacity);
    }
    if (this.limit * this.tokens > Number.MAX_SAFE_INTEGER) {
      const most = Math.floor(Number.MAX_SAFE_INTEGER / this.tokens);
      throw invalidNumber('capacity', `${most} at most with this \`refill\` and \`every\``, options.capacity);
    }
    this.windowMicros = this.#wholeMicros(this.limit) + (this.#parts(this.limit) > 0 ? 1 : 0);
    this.minDifferenceMicros = parseMinDifference(options.minDifference);
    this.keepMicros = Math.max(this.windowMicros, this.minDifferenceMicros);
    this.scale = scaleOf(this.windowMicros);
    Object.freeze(this);
  }

  create(): TokenBucketState {
    return { fullMicros: -Infinity, fullParts: 0, refundedMicros: 0, scale: 0, minDifference: undefined };
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
    // A token that has begun to come back is missing still.
    const missing = untilFull === 0 ? 0 : mulDivUp(fullMicros - nowMicros, this.tokens, this.micros, parts);
    const spared = this.limit - cost; // So many may be missing still.
    const untilSpared =
      untilFull === 0 ? 0 : fullMicros - this.#wholeMicros(spared) + (parts > this.#parts(spared) ? 1 : 0) - nowMicros;
    const quotaWait = cost > this.limit ? Infinity : Math.max(0, untilSpared);
    const differenceWait = minDifferenceWait(minDifference, this.minDifferenceMicros, nowMicros);
    return {
      waitMicros: Math.max(quotaWait, differenceWait),
      reason: rejectionReason(quotaWait, differenceWait),
      delayMicros: 0,
      remaining: Math.max(0, this.limit - missing),
      resetMicros: untilFull,
      // Its tokens come back after those that were missing before it.
      atMicros: Math.max(fullMicros, nowMicros) + refundedMicros,
    };
  }

  record(state: TokenBucketState, nowMicros: number, cost: number): Verdict {
    const parts = state.fullMicros < nowMicros ? 0 : this.#partsOf(state);
    const isFull = state.fullMicros < nowMicros || (state.fullMicros === nowMicros && parts === 0);
    state.scale = isFull ? this.scale : Math.max(state.scale, this.scale);
    this.#move(state, Math.max(state.fullMicros, nowMicros) + this.#wholeMicros(cost), parts + this.#parts(cost));
    state.minDifference = nextMinDifference(state.minDifference, this.minDifferenceMicros, nowMicros);
    return this.test(state, nowMicros, cost);
  }

  refund(state: TokenBucketState, nowMicros: number, { atMicros, recordedMicros, cost }: Hit): void {
    // Its tokens came back after those that were missing before it, and not before it was recorded.
    const sinceTurnMicros = nowMicros + state.refundedMicros - atMicros;
    const refilledMicros = Math.max(0, Math.min(sinceTurnMicros, nowMicros - recordedMicros));
    const micros = this.#wholeMicros(cost) - refilledMicros;
    const parts = this.#parts(cost);
    if (micros < 0) return;
    this.#move(state, state.fullMicros - micros, this.#partsOf(state) - parts);
    state.refundedMicros += parts > 0 ? micros + 1 : micros;
  }

  /** Notes when it is full; `parts` may be some too many, or too few. */
  #move(state: TokenBucketState, micros: number, parts: number): void {
    const carried = Math.floor(parts / this.tokens);
    state.fullMicros = micros + carried;
    state.fullParts = parts - carried * this.tokens;
  }

  /** The whole microseconds that so many tokens take to come back. Exact, as the constructor has made sure. */
  #wholeMicros(tokens: number): number {
    const rest = this.micros % this.tokens;
    return tokens * ((this.micros - rest) / this.tokens) + Math.floor((tokens * rest) / this.tokens);
  }

  /** The parts of a microsecond that they take beside. */
  #parts(tokens: number): number {
    return (tokens * (this.micros % this.tokens)) % this.tokens;
  }

  /** Another limit's parts are of another size: never more than there are. */
  #partsOf({ fullParts }: TokenBucketState): number {
    return Math.min(fullParts, this.tokens - 1);
  }
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}
