import { type Duration, MAX_DURATION_MS, parseInterval } from '../validation/duration.js';
import { invalidNumber, validateOptionNames, validatePositiveInteger, validateQuota } from '../validation/validate.js';
import { boundDebt, isWithinScale, type Scale, scaleOf } from './clock-skew-bound.js';
import { CHECK, type Hit, type Limit, type Mode, START_BITS, type State, type Verdict } from './limit.js';
import * as difference from './min-difference.js';
import { greatestCommonDivisor, mulDiv, mulDivUp, mulMod } from './mul-div.js';
import { SHARED_OPTIONS, type SharedOptions, WindowLimit } from './window-limit.js';

/** The options of {@link tokenBucket}. */
export interface TokenBucketOptions extends SharedOptions {
  /**
   * The tokens of the full bucket, which is the largest burst: a positive safe integer, 0 to reject everything, or `Infinity` to limit
   * nothing.
   */
  capacity: number;
  /** The tokens that refill in each `every`, a positive safe integer. */
  refill: number;
  /** How long `refill` tokens take to refill, evenly. Milliseconds, or text such as `'1s'`. */
  every: Duration;
}

// The numbers of the state, after those of min-difference.ts.
/** The time at which the bucket is full. It determines how many tokens are missing. */
export const FULL = difference.SIZE;
/** The rest of `FULL` below a microsecond, in units of `1 / TokenBucket.tokens` microseconds. */
export const PARTS = FULL + 1;
/** The sum of the times of refunded tokens, because a refund moves the times of all tokens that were taken later. */
export const REFUNDED = FULL + 2;
/** The latest time of an action. Tokens have refilled until then, also for a refund after a clock step back. */
export const LATEST = FULL + 3;
/** The scale of the largest limit that has recorded since the bucket was full. */
const SCALE = FULL + 4;

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
export class TokenBucket extends WindowLimit<'token-bucket'> implements Limit {
  /** The rate in lowest terms: `tokens` refill in each `micros`. So a token takes a whole number of parts. */
  readonly tokens: number;
  /** The time in which `tokens` are refilled, in microseconds. */
  readonly micros: number;
  /** How long one token takes to refill, in whole microseconds. */
  readonly tokenMicros: number;
  /** The rest of that time, in parts of a microsecond: so many `tokens`-ths. */
  readonly tokenParts: number;
  readonly stateSize = difference.SIZE + 5;
  /** How far ahead of its clock the limit may write. */
  readonly scale: Scale;

  constructor(options: TokenBucketOptions) {
    validateOptionNames('tokenBucket', options, ['capacity', 'refill', 'every', ...SHARED_OPTIONS]);
    const limit = validateQuota('capacity', options.capacity);
    const refill = validatePositiveInteger('refill', options.refill);
    const everyMicros = parseInterval('every', options.every) * 1000;
    const divisor = greatestCommonDivisor(refill, everyMicros);
    const [tokens, micros] = [refill / divisor, everyMicros / divisor];
    const capacity = limit === 0 || limit === Infinity ? 1 : limit; // A limit without a state has the window of one token.
    if ((capacity / tokens) * micros > MAX_DURATION_MS * 1000) {
      throw invalidNumber(
        'capacity',
        'a bucket that fills within 100 years at this `refill` and `every`',
        options.capacity,
      );
    }
    if (capacity * tokens > Number.MAX_SAFE_INTEGER) {
      const most = Math.floor(Number.MAX_SAFE_INTEGER / tokens);
      throw invalidNumber('capacity', `at most ${most} with this \`refill\` and \`every\``, options.capacity);
    }
    const windowMicros = mulDivUp(capacity, micros, tokens); // How long an empty bucket takes to become full.
    super('token-bucket', { limit, windowMicros }, options);
    this.tokens = tokens;
    this.micros = micros;
    this.tokenMicros = Math.floor(micros / tokens);
    this.tokenParts = micros % tokens;
    this.scale = scaleOf(this.windowMicros);
    Object.freeze(this);
  }

  create(state: State): void {
    const { numbers, start } = state;
    for (let index = 0; index < this.stateSize; index++) numbers[start + index] = 0;
    numbers[start + FULL] = numbers[start + LATEST] = -Infinity;
  }

  expiresMicros(state: State): number {
    const { numbers, start } = state;
    const fullMicros = numbers[start + FULL]! + (numbers[start + PARTS]! > 0 ? 1 : 0);
    return numbers[start + difference.LONGEST] === 0 ? fullMicros : difference.expiresAfter(fullMicros, state);
  }

  isPlausible(state: State, nowMicros: number): boolean {
    const { numbers, start } = state;
    const isWithin = isWithinScale(numbers[start + FULL]! - nowMicros, numbers[start + SCALE]!);
    return isWithin && difference.isPlausible(state, this.keepMicros, nowMicros);
  }

  describe(state: State): unknown {
    const [fullMicros, fullParts, refundedMicros, newestMicros, scale] = state.numbers.subarray(state.start + FULL);
    const minDifference = difference.describe(state);
    return { fullMicros, fullParts, refundedMicros, newestMicros, scale, minDifference };
  }

  apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const { limit, tokens, minDifferenceMicros } = this;
    const { numbers } = state;
    const start = state.start & START_BITS;
    const fullMicros = numbers[start + FULL]!;
    const parts = Math.min(numbers[start + PARTS]!, tokens - 1); // The parts of another limit may have another size.
    const untilFull = (parts > 0 ? fullMicros + 1 : fullMicros) - nowMicros;
    const isFull = untilFull <= 0;
    // A token that has refilled in part is still missing.
    const missing = isFull ? 0 : mulDivUp(fullMicros - nowMicros, tokens, this.micros, parts);
    const remaining = missing < limit ? limit - missing : 0;
    let waitMicros = 0;
    if (cost > remaining) {
      waitMicros = cost > limit ? Infinity : this.#timeOfTokens(fullMicros, parts, cost) - nowMicros;
      verdict.reason = 'limit';
    }
    verdict.waitMicros = waitMicros;
    verdict.delayMicros = 0;
    // Its tokens refill after those that were missing before.
    const startMicros = Math.max(fullMicros, nowMicros);
    verdict.atMicros = startMicros + numbers[start + REFUNDED]!;
    if (minDifferenceMicros > 0) difference.judge(state, minDifferenceMicros, nowMicros, verdict);
    let endMicros = nowMicros + untilFull;
    let nextMicros = isFull ? 0 : this.#timeOfTokens(fullMicros, parts, remaining + 1) - nowMicros;
    if (mode > CHECK || (mode === CHECK && verdict.waitMicros === 0)) {
      numbers[start + SCALE] = isFull ? this.scale : Math.max(numbers[start + SCALE]!, this.scale);
      numbers[start + LATEST] = Math.max(numbers[start + LATEST]!, nowMicros);
      const added = (isFull ? 0 : parts) + this.#parts(cost);
      numbers[start + FULL] = startMicros + this.#wholeMicros(cost) + (added < tokens ? 0 : 1);
      numbers[start + PARTS] = added < tokens ? added : added - tokens;
      const isDebt = numbers[start + FULL]! - nowMicros > this.windowMicros;
      if (isDebt && boundDebt(state, FULL, SCALE, nowMicros)) numbers[start + PARTS] = 0;
      if (minDifferenceMicros > 0 || numbers[start + difference.LONGEST] !== 0) {
        difference.record(state, minDifferenceMicros, nowMicros);
      }
      endMicros = numbers[start + FULL]! + (numbers[start + PARTS]! > 0 ? 1 : 0);
      // The next token stays the next one, unless none was missing.
      if (isFull) nextMicros = this.tokenParts > 0 ? this.tokenMicros + 1 : this.tokenMicros;
      verdict.remaining = remaining - cost;
    } else {
      verdict.remaining = remaining;
    }
    verdict.resetMicros = Math.max(endMicros - nowMicros, 0);
    verdict.nextUnitMicros = nextMicros;
    verdict.expiresMicros =
      numbers[start + difference.LONGEST] === 0 ? endMicros : difference.expiresAfter(endMicros, state);
  }

  refund(state: State, nowMicros: number, { atMicros, recordedMicros, cost }: Hit, kept: number): void {
    const { numbers, start } = state;
    // Its tokens refilled after those that were missing before, and not before they were taken. The kept ones refill
    // first.
    const latestMicros = Math.max(nowMicros, numbers[start + LATEST]!);
    const sinceStartMicros = Math.min(
      latestMicros + numbers[start + REFUNDED]! - atMicros,
      latestMicros - recordedMicros,
    );
    const refilledMicros = Math.max(0, sinceStartMicros - this.#wholeMicros(kept));
    const micros = this.#wholeMicros(cost - kept) - refilledMicros;
    const parts = this.#parts(cost - kept);
    if (micros < 0) return;
    const left = Math.min(numbers[start + PARTS]!, this.tokens - 1) - parts;
    numbers[start + FULL]! -= left < 0 ? micros + 1 : micros;
    numbers[start + PARTS] = left < 0 ? left + this.tokens : left;
    numbers[start + REFUNDED]! += parts > 0 ? micros + 1 : micros;
  }

  /** The time at which the bucket contains so many tokens, if it is full at `fullMicros` and `parts`. */
  #timeOfTokens(fullMicros: number, parts: number, tokens: number): number {
    const mayBeMissing = this.limit - tokens;
    return fullMicros - this.#wholeMicros(mayBeMissing) + (parts > this.#parts(mayBeMissing) ? 1 : 0);
  }

  /** The whole microseconds in which these tokens refill. Exact up to 2^53, and for the capacity without a division. */
  #wholeMicros(tokens: number): number {
    if (tokens > this.limit) return mulDiv(tokens, this.micros, this.tokens);
    return tokens * this.tokenMicros + Math.floor((tokens * this.tokenParts) / this.tokens);
  }

  /** The parts of a microsecond that the tokens take in addition. */
  #parts(tokens: number): number {
    if (tokens > this.limit) return mulMod(tokens, this.tokenParts, this.tokens);
    const parts = tokens * this.tokenParts;
    return parts - Math.floor(parts / this.tokens) * this.tokens; // Many times as fast as `%`.
  }
}
