import type { State } from '../limits/limit.js';

/** A state that has an array to itself. */
export class DetachedState implements State {
  readonly start = 0;
  numbers: Float64Array;

  constructor(numbers: Float64Array) {
    this.numbers = numbers;
  }

  get size(): number {
    return this.numbers.length;
  }

  resize(size: number): void {
    this.numbers = resizeNumbers(this.numbers, size);
  }
}

/** Returns an array of this length that begins with the same numbers. */
export function resizeNumbers(numbers: Float64Array, length: number): Float64Array {
  const resized = new Float64Array(length);
  resized.set(numbers.subarray(0, length));
  return resized;
}
