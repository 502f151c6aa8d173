import type { State } from './limits/limit.js';

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
    const numbers = new Float64Array(size);
    numbers.set(this.numbers.subarray(0, size));
    this.numbers = numbers;
  }
}
