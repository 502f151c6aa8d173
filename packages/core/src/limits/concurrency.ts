import { type Duration, parseDuration, parseInterval } from '../duration.js';
import { knownOptions, positiveInteger } from '../validate.js';
import type { Hit, Limit, State, Verdict } from './limit.js';

/** The options of {@link concurrency}. */
export interface ConcurrencyOptions {
  /** The most units that hold a slot at once, a positive safe integer. */
  limit: number;
  /**
   * How long a slot stays taken after the process that holds it has died, in milliseconds or as text such as `'30s'`. While
   * the process lives, it renews its slots.
   */
  lease: Duration;
  /**
   * The wait that a rejection suggests, in milliseconds or as text such as `'500ms'`. The time of the next release is
   * unknown.
   *
   * @defaultValue 1 second
   */
  retryAfter?: Duration | undefined;
}

// The numbers of the state. All times are microseconds.
/** The id of the newest lease. Ids only grow. */
const NEWEST_ID = 0;
const LEASES = 1;
/** The units of all leases, including those that have expired and are not dropped yet. */
const UNITS = 2;
/** No lease expires before this time, and none after the next one. */
const EARLIEST = 3;
const LATEST = 4;
/** The longest `lease` of all limits that have recorded. */
const LONGEST = 5;
/** The leases, in the order of their ids. */
const FIRST = 6;

// The numbers of a lease: its id, when it expires, and its units.
const UNTIL = 1;
const LEASE_UNITS = 2;
const LEASE_SIZE = 3;

/**
 * Limits work in flight: at no instant do more than `limit` units hold a slot. A check takes slots, and `release` of its
 * decision frees them. A slot is a lease, so the slots of a dead process become free after one `lease`. In a `MemoryStore`
 * a slot stays taken until it is released, because the store dies with its process.
 *
 * A rejection suggests the wait `retryAfter`, and its limit has `retryIsEstimate: true`. `settle` and `charge` never take
 * slots.
 *
 * @throws TypeError, RangeError naming the invalid option.
 * @example
 * ```ts
 * import { concurrency, RateLimiter } from '@rollgate/core';
 *
 * const limiter = new RateLimiter({ limits: concurrency({ limit: 1, lease: '30s' }) });
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
export class Concurrency implements Limit {
  readonly algorithm = 'concurrency';
  readonly limit: number;
  readonly countRejected = false;
  readonly retryIsEstimate = true;
  /** How long a slot stays taken without a renewal, in microseconds. */
  readonly leaseMicros: number;
  /** The estimated wait of a rejected action, in microseconds. */
  readonly retryAfterMicros: number;
  readonly windowMicros: number;
  readonly keepMicros: number;
  readonly stateSize = FIRST + LEASE_SIZE;

  constructor(options: ConcurrencyOptions) {
    knownOptions('concurrency', options, ['limit', 'lease', 'retryAfter']);
    this.limit = positiveInteger('limit', options.limit);
    this.leaseMicros = parseInterval('lease', options.lease) * 1000;
    this.retryAfterMicros = parseDuration('retryAfter', options.retryAfter ?? 1000) * 1000;
    this.windowMicros = this.leaseMicros;
    this.keepMicros = this.leaseMicros;
    Object.freeze(this);
  }

  create({ numbers, start }: State): void {
    numbers[start + NEWEST_ID] = 0;
    numbers[start + LEASES] = 0;
    numbers[start + UNITS] = 0;
    numbers[start + EARLIEST] = Infinity;
    numbers[start + LATEST] = -Infinity;
    numbers[start + LONGEST] = 0;
  }

  expiresMicros({ numbers, start }: State): number {
    return numbers[start + LEASES] === 0 ? -Infinity : numbers[start + LATEST]!;
  }

  isPlausible({ numbers, start }: State, nowMicros: number): boolean {
    const latestMicros = numbers[start + LATEST]!;
    return latestMicros === Infinity || latestMicros - nowMicros <= 2 * numbers[start + LONGEST]!;
  }

  describe(state: State): unknown {
    const leases = Array.from({ length: leasesOf(state) }, (_, index) => {
      const at = placeOf(state, index);
      return Array.from(state.numbers.subarray(at, at + LEASE_SIZE));
    });
    return { leases, newestId: state.numbers[state.start + NEWEST_ID] };
  }

  test(state: State, nowMicros: number, cost: number, verdict: Verdict): void {
    const used = usedUnits(state, nowMicros);
    const free = this.limit - used;
    verdict.waitMicros = cost > this.limit ? Infinity : cost > free ? this.retryAfterMicros : 0;
    verdict.reason = 'limit';
    verdict.delayMicros = 0;
    verdict.remaining = Math.max(0, free);
    verdict.resetMicros = used > 0 ? this.retryAfterMicros : 0;
    verdict.atMicros = Math.max(nowMicros, state.numbers[state.start + NEWEST_ID]! + 1);
  }

  record(state: State, nowMicros: number, cost: number, verdict: Verdict): void {
    dropExpired(state, nowMicros);
    insert(state, leasesOf(state), verdict.atMicros, cost);
    this.#extend(state, leasesOf(state) - 1, nowMicros);
    this.test(state, nowMicros, cost, verdict);
  }

  refund(state: State, _nowMicros: number, { atMicros }: Hit, kept: number): void {
    const index = indexOf(state, atMicros);
    const { numbers, start } = state;
    const at = placeOf(state, index);
    if (index === leasesOf(state) || numbers[at] !== atMicros) return;
    const units = Math.min(numbers[at + LEASE_UNITS]!, kept);
    numbers[start + UNITS]! += units - numbers[at + LEASE_UNITS]!;
    numbers[at + LEASE_UNITS] = units;
    if (units === 0) remove(state, index);
  }

  /**
   * Extends a lease. If it has expired or is gone, takes its slots again, if they are free. Returns whether the lease
   * holds its slots.
   */
  renew(state: State, nowMicros: number, { atMicros, cost }: Hit): boolean {
    const index = indexOf(state, atMicros);
    const at = placeOf(state, index);
    const isFound = index < leasesOf(state) && state.numbers[at] === atMicros;
    if (!isFound || state.numbers[at + UNTIL]! <= nowMicros) {
      const units = isFound ? state.numbers[at + LEASE_UNITS]! : cost;
      if (usedUnits(state, nowMicros) + units > this.limit) return false;
    }
    if (!isFound) insert(state, index, atMicros, cost);
    this.#extend(state, index, nowMicros);
    return true;
  }

  #extend(state: State, index: number, nowMicros: number): void {
    const { numbers, start } = state;
    const untilMicros = state.diesWithProcess === true ? Infinity : nowMicros + this.leaseMicros;
    numbers[placeOf(state, index) + UNTIL] = untilMicros;
    numbers[start + EARLIEST] = Math.min(numbers[start + EARLIEST]!, untilMicros);
    numbers[start + LATEST] = Math.max(numbers[start + LATEST]!, untilMicros);
    numbers[start + LONGEST] = Math.max(numbers[start + LONGEST]!, this.leaseMicros);
  }
}

function leasesOf({ numbers, start }: State): number {
  return numbers[start + LEASES]!;
}

function placeOf({ start }: State, index: number): number {
  return start + FIRST + index * LEASE_SIZE;
}

function usedUnits(state: State, nowMicros: number): number {
  const { numbers, start } = state;
  let units = numbers[start + UNITS]!;
  if (numbers[start + EARLIEST]! > nowMicros) return units;
  for (let index = leasesOf(state) - 1; index >= 0; index--) {
    const at = placeOf(state, index);
    if (numbers[at + UNTIL]! <= nowMicros) units -= numbers[at + LEASE_UNITS]!;
  }
  return units;
}

/** The index of the first lease whose id is not below `id`. */
function indexOf(state: State, id: number): number {
  let low = 0;
  let high = leasesOf(state);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (state.numbers[placeOf(state, middle)]! < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

function insert(state: State, index: number, id: number, units: number): void {
  const leases = leasesOf(state);
  const needed = FIRST + (leases + 1) * LEASE_SIZE;
  if (needed > state.size) state.resize(Math.max(needed, FIRST + 2 * leases * LEASE_SIZE));
  const { numbers, start } = state;
  const at = placeOf(state, index);
  numbers.copyWithin(at + LEASE_SIZE, at, placeOf(state, leases));
  numbers[at] = id;
  numbers[at + LEASE_UNITS] = units;
  numbers[start + LEASES] = leases + 1;
  numbers[start + UNITS]! += units;
  numbers[start + NEWEST_ID] = Math.max(numbers[start + NEWEST_ID]!, id);
}

/** Removes a lease whose units are no longer in the sum. */
function remove(state: State, index: number): void {
  const { numbers, start } = state;
  const leases = leasesOf(state);
  numbers.copyWithin(placeOf(state, index), placeOf(state, index + 1), placeOf(state, leases));
  numbers[start + LEASES] = leases - 1;
}

function dropExpired(state: State, nowMicros: number): void {
  const { numbers, start } = state;
  if (numbers[start + EARLIEST]! > nowMicros) return;
  let left = 0;
  let earliestMicros = Infinity;
  for (let index = 0; index < leasesOf(state); index++) {
    const at = placeOf(state, index);
    const untilMicros = numbers[at + UNTIL]!;
    if (untilMicros <= nowMicros) {
      numbers[start + UNITS]! -= numbers[at + LEASE_UNITS]!;
      continue;
    }
    numbers.copyWithin(placeOf(state, left), at, at + LEASE_SIZE);
    earliestMicros = Math.min(earliestMicros, untilMicros);
    left += 1;
  }
  numbers[start + LEASES] = left;
  numbers[start + EARLIEST] = earliestMicros;
}
