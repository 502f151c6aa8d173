import type { KeyState } from '../operations/states.js';

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
  /** How long the limit that reads the state keeps it. */
  keepMicros = 0;

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
}
