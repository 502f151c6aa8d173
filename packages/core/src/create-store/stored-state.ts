import type { StateLifecycle } from '../limits/limit.js';
import type { KeyState } from '../operations/states.js';

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
  isNew = true;
  /** What the store must write: the numbers, `null` to delete the key, or nothing. */
  change: StoredNumbers | null | undefined;
  /** The limit that reads the state. */
  #lifecycle!: StateLifecycle;

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
    const { numbers } = this;
    this.numbers = new Float64Array(this.start + size);
    this.numbers.set(numbers.subarray(0, this.numbers.length));
  }

  /** Reads the state by a limit. Deletes an implausible one. */
  open(lifecycle: StateLifecycle, nowMicros: number): this {
    this.#lifecycle = lifecycle;
    this.isNew = this.numbers.length === 0;
    if (this.isNew) return this;
    if (this.#isIntact(lifecycle)) {
      this.isNew = lifecycle.expiresMicros(this) <= nowMicros;
      if (this.isNew || lifecycle.isPlausible(this, nowMicros)) return this;
    }
    this.isNew = true;
    this.change = null;
    return this;
  }

  /** Whether a limit wrote the state. A damaged file or another program may have changed it. */
  #isIntact(lifecycle: StateLifecycle): boolean {
    if (!this.numbers.every(Number.isFinite)) return false;
    return lifecycle.isIntact?.(this) ?? this.size >= lifecycle.stateSize;
  }

  /** Returns the state if the key is still in this life. */
  openLife(lifecycle: StateLifecycle, life: number): this | undefined {
    this.#lifecycle = lifecycle;
    return this.life === life && this.#isIntact(lifecycle) ? this : undefined;
  }

  /** Writes the numbers of a key without hits, in a new life. */
  clear(): void {
    this.numbers = new Float64Array(this.start + this.#lifecycle.stateSize);
    this.numbers[0] = Math.floor(Math.random() * Number.MAX_SAFE_INTEGER); // No other process knows the earlier lives.
    this.#lifecycle.create(this);
  }

  /** Has the store write the state, or delete one that is like new. */
  write(expiresMicros: number): void {
    const graceMicros = Math.min(this.#lifecycle.keepMicros, GRACE_MICROS);
    // A database needs a finite time, even for a state that never expires.
    const dropAtMs = Math.min(expiresMicros + graceMicros, Number.MAX_SAFE_INTEGER) / 1000;
    this.change = expiresMicros === -Infinity ? null : { numbers: this.numbers, dropAtMs };
  }
}
