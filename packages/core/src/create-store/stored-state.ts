import { resizeNumbers } from '../engine/detached-state.js';
import type { KeyState } from '../engine/states.js';
import type { StateLifecycle } from '../limits/limit.js';

/** A clock that steps back by less than a minute finds the same state, so stores keep an expired one that long. */
const GRACE_MICROS = 60_000_000;

/** The state of a key as a store keeps it. */
export interface StoredNumbers {
  /**
   * The state, for `update` to read again. Rollgate never changes this array. All numbers are finite, so JSON can hold
   * them: `JSON.stringify([...numbers])`.
   */
  readonly numbers: Float64Array;
  /** When the store may drop the state, in milliseconds of its clock. */
  readonly dropAtMs: number;
}

/**
 * The state of one key during one transaction. Its first number identifies the life of the key, so that a receipt of an
 * earlier life refunds nothing. The state of the algorithm follows.
 */
export class StoredState implements KeyState {
  numbers: Float64Array;
  readonly start = 1;
  expiresMicros = -Infinity;
  /** What the store must write: the numbers, `null` to delete the key, or nothing. */
  change: StoredNumbers | null | undefined;

  constructor(numbers: ArrayLike<number> | undefined) {
    this.numbers = new Float64Array(numbers ?? []);
  }

  /** `NaN` while the key has no state. It equals no life. */
  get life(): number {
    return this.numbers[0] ?? Number.NaN;
  }

  get size(): number {
    return this.numbers.length - this.start;
  }

  resize(size: number): void {
    this.numbers = resizeNumbers(this.numbers, this.start + size);
  }

  /** Returns the state, unless the key has none or it has expired. Deletes an implausible one. */
  find(lifecycle: StateLifecycle, nowMicros: number): this | undefined {
    if (this.numbers.length === 0) return undefined;
    this.expiresMicros = lifecycle.expiresMicros(this);
    if (this.expiresMicros <= nowMicros) return undefined;
    if (lifecycle.isPlausible(this, nowMicros)) return this;
    this.change = null;
    return undefined;
  }

  /** Starts a new life of the key. */
  create(lifecycle: StateLifecycle): this {
    this.numbers = new Float64Array(this.start + lifecycle.stateSize);
    this.numbers[0] = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER); // No other process knows the earlier lives.
    lifecycle.create(this);
    return this;
  }

  /** Has the store write the state, or delete one that is like new. */
  write(lifecycle: StateLifecycle): void {
    const expiresMicros = lifecycle.expiresMicros(this);
    const graceMicros = Math.min(lifecycle.keepMicros, GRACE_MICROS);
    // A database needs a finite time, even for a state that never expires.
    const dropAtMs = Math.min(expiresMicros + graceMicros, Number.MAX_SAFE_INTEGER) / 1000;
    this.change = expiresMicros === -Infinity ? null : { numbers: this.numbers, dropAtMs };
  }
}
