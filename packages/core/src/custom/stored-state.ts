import { resizeNumbers } from '../decision/detached-state.js';
import { type FoundState, recordOverdraft } from '../decision/evaluate.js';
import type { Hit, LeasingLimit, Limit, State, StateLifecycle } from '../limits/limit.js';

/** A clock that steps back by less than a minute finds the same state, so stores keep an expired one that long. */
const GRACE_MICROS = 60_000_000;

/** The state of a key as a store keeps it. All numbers are finite, so JSON can hold them. */
export interface StoredNumbers {
  /** The state, for `update` to read again. */
  readonly numbers: readonly number[];
  /** When the store may drop the state, in milliseconds of its clock. */
  readonly dropAtMs: number;
}

/** The hit of a lease, and the life of the key that has it. */
export interface LeaseHit extends Hit {
  readonly life: number | undefined;
}

/**
 * The state of one key during one transaction. Its first number identifies the life of the key, so that a receipt of an
 * earlier life refunds nothing. The state of the algorithm follows.
 */
export class StoredState implements FoundState {
  numbers: Float64Array;
  readonly start = 1;
  expiresMicros = -Infinity;
  /** What the store must write: the numbers, `null` to delete the key, or nothing. */
  change: StoredNumbers | null | undefined;

  constructor(numbers: ArrayLike<number> | undefined) {
    this.numbers = Float64Array.from(numbers ?? []);
  }

  get life(): number | undefined {
    return this.numbers[0];
  }

  get size(): number {
    return this.numbers.length - this.start;
  }

  resize(size: number): void {
    this.numbers = resizeNumbers(this.numbers, this.start + size);
  }

  /** Returns the state, unless the key has none or it has expired. Deletes an implausible one. */
  find(limit: StateLifecycle, nowMicros: number): this | undefined {
    if (this.life === undefined) return undefined;
    this.expiresMicros = limit.expiresMicros(this);
    if (this.expiresMicros <= nowMicros) return undefined;
    if (limit.isPlausible(this, nowMicros)) return this;
    this.change = null;
    return undefined;
  }

  /** Starts a new life of the key. */
  create(limit: StateLifecycle): State {
    this.numbers = new Float64Array(this.start + limit.stateSize);
    this.numbers[0] = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER); // No other process knows the earlier lives.
    limit.create(this);
    return this;
  }

  /** Records units whether or not they are free. */
  recordOverdraft(limit: Limit, nowMicros: number, units: number): void {
    recordOverdraft(limit, this.find(limit, nowMicros) ?? this.create(limit), nowMicros, units);
    this.write(limit);
  }

  /** Extends the lease of a hit, or takes its slots again. Returns where the lease is now, or nothing if it is lost. */
  renew(limit: LeasingLimit, nowMicros: number, hit: LeaseHit): Pick<LeaseHit, 'life' | 'atMicros'> | undefined {
    const state = this.find(limit, nowMicros) ?? this.create(limit);
    // Ids are unique within a life, so in a later one the lease needs another id.
    const atMicros = this.life === hit.life ? hit.atMicros : limit.unusedId(state, hit.atMicros);
    const isHeld = limit.renew(state, nowMicros, { ...hit, atMicros });
    this.write(limit);
    return isHeld ? { life: this.life, atMicros } : undefined;
  }

  /** Refunds all but the first `kept` units of a hit in the present life of the key. */
  refund(limit: Limit, nowMicros: number, hit: Hit, kept: number): void {
    limit.refund(this, nowMicros, hit, kept);
    this.write(limit);
  }

  /** Has the store write the state, or delete one that is like new. */
  write(limit: StateLifecycle): void {
    const expiresMicros = limit.expiresMicros(this);
    const graceMicros = Math.min(limit.keepMicros, GRACE_MICROS);
    this.change =
      expiresMicros === -Infinity
        ? null
        : { numbers: Array.from(this.numbers), dropAtMs: (expiresMicros + graceMicros) / 1000 };
  }
}
