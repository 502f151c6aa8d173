import { type Hit, type Mode, records, type SlotLimit, type State, type Verdict } from '../limits/limit.js';
import { type Duration, parseDuration, parseInterval } from '../validation/duration.js';
import { validateOptionNames, validateQuota } from '../validation/validate.js';
import { LeaseKeeper, type LeaseKeepingLimit } from './lease-keeper.js';
import * as leases from './lease-list.js';

/** The options of {@link concurrency}. */
export interface ConcurrencyOptions {
  /**
   * The most units that hold a slot at once: a positive safe integer, 0 to reject everything, or `Infinity` to limit nothing.
   */
  limit: number;
  /**
   * How long a slot stays taken after the process that holds it has died, in milliseconds or as text such as `'30s'`. While
   * the process lives, it renews its slots.
   *
   * @defaultValue 30 seconds
   */
  lease?: Duration | undefined;
  /**
   * The wait that a rejection suggests, in milliseconds or as text such as `'500ms'`. The time of the next release is
   * unknown.
   *
   * @defaultValue 1 second
   */
  retryAfter?: Duration | undefined;
}

/**
 * Limits work in flight: at no instant do more than `limit` units hold a slot. A check takes slots, and `release` of its
 * decision frees them. The limiter renews the lease of the slots, so those of a dead process are free after one `lease`. In a
 * `MemoryStore`, a slot stays taken until it is released, because the store dies with its process.
 *
 * A rejection suggests the wait `retryAfter`, and has `retryIsEstimate: true`. `settle` and `charge` never take
 * slots.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { concurrency, RateLimiter } from '@rollgate/core';
 *
 * const limiter = new RateLimiter({ limits: concurrency({ limit: 1 }) });
 * const decision = await limiter.check('ann');
 * (await limiter.check('ann')).allowed; // => false
 * await limiter.release(decision);
 * (await limiter.check('ann')).allowed; // => true
 * ```
 */
export function concurrency(options: ConcurrencyOptions): Concurrency {
  return new Concurrency(options);
}

/** See {@link concurrency}. Immutable. */
export class Concurrency implements SlotLimit, LeaseKeepingLimit {
  readonly algorithm = 'concurrency';
  readonly limit: number;
  readonly countRejected = false;
  /** A check takes slots. Its wait is an estimate, because the time of the next release is unknown. */
  readonly holdsSlots = true;
  readonly onLateReply = 'release';
  /** How long a slot stays taken without a renewal, in microseconds. */
  readonly leaseMicros: number;
  /** The estimated wait of a rejected action, in microseconds. */
  readonly retryAfterMicros: number;
  readonly windowMicros: number;
  readonly keepMicros: number;
  readonly stateSize = leases.SIZE_FOR_ONE;

  constructor(options: ConcurrencyOptions) {
    validateOptionNames('concurrency', options, ['limit', 'lease', 'retryAfter']);
    this.limit = validateQuota('limit', options.limit);
    const { lease = '30s' } = options;
    this.leaseMicros = parseInterval('lease', lease) * 1000;
    this.retryAfterMicros = parseDuration('retryAfter', options.retryAfter ?? 1000) * 1000;
    this.windowMicros = this.keepMicros = this.leaseMicros;
    Object.freeze(this);
  }

  /** Creates what keeps the slots that the checks of a limiter take. */
  createLeaseKeeper(...owner: Parameters<LeaseKeepingLimit['createLeaseKeeper']>): LeaseKeeper {
    return new LeaseKeeper(...owner);
  }

  create(state: State): void {
    leases.clear(state);
  }

  expiresMicros(state: State): number {
    return leases.endOf(state);
  }

  isPlausible(state: State, nowMicros: number): boolean {
    return leases.isPlausible(state, nowMicros);
  }

  isIntact(state: State): boolean {
    return leases.isIntact(state);
  }

  describe(state: State): unknown {
    return { leases: leases.describe(state), newestId: leases.newestIdOf(state) };
  }

  apply(state: State, nowMicros: number, cost: number, verdict: Verdict, mode: Mode): void {
    const { limit, retryAfterMicros } = this;
    let used = leases.usedUnits(state, nowMicros);
    verdict.waitMicros = cost <= limit - used ? 0 : cost > limit ? Infinity : retryAfterMicros;
    verdict.isEstimate = verdict.waitMicros !== Infinity;
    verdict.reason = 'limit';
    verdict.delayMicros = 0;
    verdict.atMicros = this.unusedId(state, nowMicros);
    if (records(mode, verdict.waitMicros)) {
      leases.dropExpired(state, nowMicros);
      leases.insert(state, leases.countOf(state), verdict.atMicros, cost);
      leases.extend(state, leases.countOf(state) - 1, nowMicros, this.leaseMicros);
      used = leases.usedUnits(state, nowMicros);
    }
    verdict.remaining = Math.max(0, limit - used);
    verdict.resetMicros = used > 0 ? retryAfterMicros : 0;
    verdict.nextUnitMicros = 0;
    verdict.expiresMicros = leases.endOf(state);
  }

  refund(state: State, _nowMicros: number, { atMicros }: Hit, kept: number): void {
    const index = leases.indexOf(state, atMicros);
    if (leases.hasId(state, index, atMicros)) leases.keepUnits(state, index, kept);
  }

  /**
   * Extends a lease. If it has expired or is gone, takes its slots again, if they are free. Returns whether the lease
   * holds its slots.
   */
  renew(state: State, nowMicros: number, { atMicros, cost }: Hit): boolean {
    const index = leases.indexOf(state, atMicros);
    const isKept = leases.hasId(state, index, atMicros);
    const isLive = isKept && leases.untilOf(state, index) > nowMicros;
    if (!isLive && leases.usedUnits(state, nowMicros) + cost > this.limit) return false;
    if (!isKept) leases.insert(state, index, atMicros, cost);
    leases.extend(state, index, nowMicros, this.leaseMicros);
    return true;
  }

  unusedId(state: State, id: number): number {
    // A smaller id may be that of a lease which has expired, and which its holder may still renew.
    return Math.max(id, leases.newestIdOf(state) + 1);
  }
}
